"""Requests meet the faults of rules, and wrong rules are reported."""

from typing import Any

import pytest

from fault_proxy import request
from fault_proxy.rules import FAULTS, Faults, RuleError

GET = request.read("GET", "/api/v1/namespaces/shop/pods/one")
PATCH = request.read("PATCH", "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines/web?fieldManager=me")
WATCH = request.read("GET", "/api/v1/pods?watch=1")


def _met(rules: list[dict[str, Any]], received: request.RequestInfo = GET) -> str | None:
    rule = Faults(rules).choose(received).rule
    return rule and rule.fault


@pytest.mark.parametrize(
    ("method", "target", "content_type", "verb", "resource", "writes"),
    [
        ("GET", "/api/v1/namespaces", "", "list", "namespaces", False),
        ("GET", "/api/v1/namespaces/a", "", "get", "namespaces", False),
        ("PUT", "/api/v1/namespaces/a/finalize", "", "update", "namespaces/finalize", True),
        ("GET", "/api/v1/namespaces/a/pods?limit=500", "", "list", "pods", False),
        ("GET", "/api/v1/pods?watch=true&limit=1", "", "watch", "pods", False),
        ("GET", "/api/v1/pods?watch=0", "", "list", "pods", False),
        ("DELETE", "/api/v1/namespaces/a/pods", "", "deletecollection", "pods", True),
        ("DELETE", "/api/v1/nodes/n", "", "delete", "nodes", True),
        ("POST", "/apis/a.io/v1/namespaces/a/things", "", "create", "things.a.io", True),
        ("POST", "/apis/a.io/v1/namespaces/a/things?dryRun=All", "", "create", "things.a.io", False),
        ("PATCH", "/apis/k.io/v1/namespaces/a/vms/b", "application/merge-patch+json", "patch", "vms.k.io", True),
        ("PATCH", "/apis/k.io/v1/namespaces/a/vms/b", "application/apply-patch+yaml", "apply", "vms.k.io", True),
        ("PATCH", "/apis/k.io/v1/namespaces/a/vms/b/status", "", "patch", "vms.k.io/status", True),
        ("PUT", "/apis/sub.k.io/v1/namespaces/a/vms/b/start", "", "update", "vms.sub.k.io/start", True),
        ("POST", "/apis/authorization.k8s.io/v1/reviews", "", "create", "reviews.authorization.k8s.io", False),
        ("GET", "/readyz?verbose", "", "get", "/readyz", False),
        ("GET", "/apis", "", "get", "/apis", False),
    ],
)
def test_request_is_classified_by_verb_and_resource(
    method: str, target: str, content_type: str, verb: str, resource: str, writes: bool
) -> None:
    received = request.read(method, target, content_type)
    assert (received.verb, received.resource, received.writes) == (verb, resource, writes)


@pytest.mark.parametrize(
    ("rule", "met"),
    [
        ({}, True),
        ({"methods": ["PATCH"]}, True),
        ({"methods": ["get", "patch"]}, True),
        ({"methods": ["GET"]}, False),
        ({"path": "virtualmachines/web"}, True),
        ({"path": "fieldManager=me$"}, True),
        ({"path": "^/api/"}, False),
        ({"times": 0}, False),
    ],
)
def test_rule_applies_to_its_methods_and_paths(rule: dict[str, Any], met: bool) -> None:
    assert _met([{"fault": "reset", **rule}], PATCH) == ("reset" if met else None)


@pytest.mark.parametrize("fault", ["cut", "truncate", "slow"])
def test_body_faults_do_not_apply_to_watches(fault: str) -> None:
    options = {"bytes_per_second": 1} if fault == "slow" else {}
    assert _met([{"fault": fault, **options}], GET) == fault
    assert _met([{"fault": fault, **options}], WATCH) is None


@pytest.mark.parametrize("fault", ["watch_cut", "watch_gone", "watch_twice"])
def test_watch_faults_apply_only_to_watches(fault: str) -> None:
    assert _met([{"fault": fault}], WATCH) == fault
    assert _met([{"fault": fault}], GET) is None


def test_the_first_rule_decides_and_latencies_add_up() -> None:
    faults = Faults(
        [
            {"fault": "latency", "seconds": 1},
            {"fault": "status", "status": 503, "methods": ["GET"]},
            {"fault": "reset"},
            {"fault": "latency", "seconds": 2},
        ]
    )
    for received, fault in ((GET, "status"), (PATCH, "reset")):
        chosen = faults.choose(received)
        assert chosen.latency == 1
        assert chosen.rule is not None
        assert chosen.rule.fault == fault
    both = Faults([{"fault": "latency", "seconds": 1}, {"fault": "latency", "seconds": 2, "jitter": 3}])
    assert all(3 <= both.choose(GET).latency <= 6 for _unused in range(50))


def test_a_rule_with_times_ends() -> None:
    faults = Faults([{"fault": "reset", "times": 2, "methods": ["GET"]}])
    assert [bool(faults.choose(received).rule) for received in (GET, PATCH, GET, GET)] == [True, False, True, False]


def test_a_rule_that_skips_begins_later() -> None:
    faults = Faults([{"fault": "hold", "skip": 1, "times": 1, "methods": ["GET"]}])
    assert [bool(faults.choose(received).rule) for received in (GET, PATCH, GET, GET)] == [False, False, True, False]


def test_rate_is_the_share_and_seed_repeats_draws() -> None:
    def draw(seed: int | None) -> list[bool]:
        faults = Faults([{"fault": "reset", "rate": 0.2}], seed)
        return [faults.choose(GET).rule is not None for _unused in range(2000)]

    assert draw(1) == draw(1) != draw(2)
    assert 300 < sum(draw(1)) < 500


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("reset", ": 'reset' is not a mapping; write a mapping such as {fault: status, status: 503}"),
        ({"fault": "rest"}, f".fault: 'rest' is not a fault; use one of {', '.join(FAULTS)}"),
        ({"fault": "status"}, ".status: required for the fault status"),
        (
            {"fault": "status", "status": 200},
            ".status: 200 is not valid; write an HTTP status from 400 to 599",
        ),
        (
            {"fault": "status", "status": "503"},
            ".status: '503' is not valid; write an HTTP status from 400 to 599",
        ),
        ({"fault": "reset", "when": "later"}, ".when: 'later' is not valid; write one of before, after"),
        ({"fault": "reset", "rate": 0}, ".rate: 0 is not valid; write more than 0 and at most 1"),
        ({"fault": "reset", "rate": True}, ".rate: True is not valid; write more than 0 and at most 1"),
        ({"fault": "reset", "path": "("}, ".path: '(' is not valid; write a regular expression"),
        ({"fault": "reset", "methods": "GET"}, ".methods: 'GET' is not valid; write a list such as [PATCH]"),
        ({"fault": "reset", "times": 1.5}, ".times: 1.5 is not valid; write a whole number"),
        (
            {"fault": "slow", "bytes_per_second": 0},
            ".bytes_per_second: 0 is not valid; write a number above 0",
        ),
        (
            {"fault": "latency", "seconds": 1, "jitter": -1},
            ".jitter: -1 is not valid; write a number of 0 or more",
        ),
        (
            {"fault": "cut", "seconds": 1},
            ".seconds: unknown option of the fault cut; use one of methods, path, rate, skip, times, after_bytes",
        ),
    ],
)
def test_invalid_rule_is_reported_with_valid_values(rule: Any, message: str) -> None:
    with pytest.raises(RuleError) as wrong:
        Faults([{"fault": "reset"}, rule])
    assert str(wrong.value) == f"rules[1]{message}"


def test_rules_must_be_list_and_seed_a_number() -> None:
    with pytest.raises(RuleError, match=r"^rules: expected a list"):
        Faults({"fault": "reset"})  # type: ignore[arg-type]
    with pytest.raises(RuleError, match=r"^seed: 'x' is not valid"):
        Faults([], "x")  # type: ignore[arg-type]
