"""Each fault by itself: what is declared comes to be, once, and the module says so."""

from typing import Any

import pytest

from chaos_support import TIMEOUT, WRITES, Shop, failures, names
from plugins.module_utils._cluster.client import session

COUNT = 6
VMS = "virtualmachines"

FAULTS: dict[str, list[dict[str, Any]]] = {
    "reset": [{"fault": "reset", "rate": 0.3}],
    "reset after the write": [{"fault": "reset", "when": "after", "methods": WRITES, "rate": 0.3}],
    "cut": [{"fault": "cut", "rate": 0.3}],
    "truncated JSON": [{"fault": "truncate", "rate": 0.3}],
    "latency": [{"fault": "latency", "seconds": 0.05, "jitter": 0.2}],
    "429": [{"fault": "status", "status": 429, "retry_after": 1, "rate": 0.12}],
    "500, 502, 503, 504": [{"fault": "status", "status": code, "rate": 0.1} for code in (500, 502, 503, 504)],
    "503 after the write": [{"fault": "status", "status": 503, "when": "after", "methods": WRITES, "rate": 0.3}],
    "409": [{"fault": "status", "status": 409, "methods": WRITES, "path": VMS, "rate": 0.4}],
    "410": [{"fault": "watch_gone", "after_events": 1, "times": 5}],
    "watch cut": [{"fault": "watch_cut", "after_events": 1, "times": 5}],
    "no watch": [{"fault": "status", "status": 503, "path": "watch=1", "times": 4}],
    "slow": [{"fault": "slow", "bytes_per_second": 100_000}],
    "expired pages": [{"fault": "status", "status": 410, "path": "continue=", "times": 2}],
}


DAILY = ("reset after the write", "429", "409", "410", "watch cut")
"""One of each kind. test_fault_proxy.py has what a single request does about the others, each day too."""
FURTHER = pytest.mark.nightly("a further fault of a kind")


@pytest.mark.parametrize("fault", [name if name in DAILY else pytest.param(name, marks=FURTHER) for name in FAULTS])
def test_run_converges_despite_the_fault(shop: Shop, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_PAGE", 3)
    expected = names(COUNT)
    shop.faulty.rules(*FAULTS[fault])
    shop.declare(expected)
    first = {name: vm["metadata"]["uid"] for name, vm in shop.vms().items()}
    shop.declare(expected, "2")
    for _attempt in range(10):
        if shop.faulty.counts()["faults"]:
            break
        # On a slow machine the first list has all, so that nothing is watched; guests take longer.
        shop.run("virtual_machine_power", names=expected[::4], state="restarted", wait=True, wait_timeout=TIMEOUT)
    shop.remove(expected[:2])
    assert shop.faulty.counts()["faults"], "no request met the fault"

    left = expected[2:]
    # Created once: nobody took a place a second time.
    assert {name: vm["metadata"]["uid"] for name, vm in shop.vms().items()} == {name: first[name] for name in left}
    assert shop.labels() == dict.fromkeys(left, "2")
    assert shop.revisions() == left
    shop.faulty.rules()
    again = shop.run("virtual_machine", **{**shop.declaration(expected, "2"), "virtual_machines": entries(shop, left)})
    assert not again["changed"], again
    assert shop.faulty.counts()["writes"] == 0


def entries(shop: Shop, left: list[str]) -> list[dict[str, Any]]:
    return [{"name": name, "run_strategy": shop.vms()[name]["spec"]["runStrategy"]} for name in left]


@pytest.mark.parametrize("fault", ["reset", pytest.param("status", marks=FURTHER)])
@pytest.mark.parametrize("when", ["before", "after"])
def test_power_verbs_are_carried_out_once(shop: Shop, fault: str, when: str) -> None:
    expected = names(4)
    shop.declare(expected, run_strategy="Always", virtual_machines=[{"name": name} for name in expected])
    before = instances(shop)
    rule = {"fault": fault, "when": when, "methods": ["PUT"], "times": 3}
    shop.faulty.rules({**rule, "status": 503} if fault == "status" else rule)
    shop.run("virtual_machine_power", names=expected, state="restarted", wait=True)
    assert shop.faulty.counts()["faults"] == {fault: 3}
    after = instances(shop)
    assert set(after) == set(expected) and not set(before.values()) & set(after.values())
    # A verb that was taken up although its answer was lost is not sent again.
    sent = shop.faulty.counts()["by_resource"]["update virtualmachines.subresources.kubevirt.io/restart"]
    assert sent == (len(expected) if when == "after" else len(expected) + 3)


def instances(shop: Shop) -> dict[str, str]:
    return {name: vm["vmi"]["uid"] for name, vm in shop.run.vms().items() if "vmi" in vm}


def test_permanent_fault_fails_its_vm_only(shop: Shop) -> None:
    expected = names(12)
    broken = expected[3::4]
    shop.faulty.rules({"fault": "status", "status": 503, "methods": ["PATCH"], "path": f"/({'|'.join(broken)})[?]"})
    result = shop.run.refused("virtual_machine", **shop.declaration(expected, retry_timeout=2))
    assert set(failures(result)) == set(broken)
    assert all("tried" in why for why in failures(result).values())
    assert result["msg"].startswith("3 of 12 virtual machines failed")
    assert set(shop.vms()) == set(expected) - set(broken)
    shop.faulty.rules()
    shop.declare(expected)
    shop.judge(expected, "1")


def test_token_expires_during_the_run(shop: Shop) -> None:
    expected = names(6)
    late = expected[3:]
    shop.faulty.rules({"fault": "status", "status": 401, "methods": ["PATCH"], "path": f"/({'|'.join(late)})[?]"})
    made = shop.run.refused("virtual_machine", **shop.declaration(expected, wait=False))
    assert set(failures(made)) == set(late)
    for why in failures(made).values():
        assert "rejected the credentials" in why and "so they expired or were revoked" in why
        assert "log in again" in why
    assert set(shop.vms()) == set(expected[:3])
    shop.faulty.rules()
    again = shop.declare(expected)
    actions = {item["name"]: item["action"] for item in again["results"]}
    assert actions == {name: "create" if name in late else "none" for name in expected}


def test_requests_a_second_are_limited(shop: Shop) -> None:
    shop.faulty.rules({"fault": "latency", "seconds": 0.001})
    shop.declare(names(6), qps=1000, concurrency=3)
    assert shop.faulty.counts()["max_concurrent"] <= 3
