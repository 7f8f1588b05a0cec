"""A client meets each fault of the fault proxy on a real API server.

The cluster is one of its own, without KubeVirt.
"""

import base64
import json
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import urllib3
import yaml

from plugins.module_utils._cluster.client.errors import ApiError, ConnectionFailed
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

pytestmark = pytest.mark.own_cluster

Launch = Callable[..., dict[str, Any]]
SECRETS = "/api/v1/namespaces/default/secrets"


class Faulty(NamedTuple):
    """A cluster with a fault proxy."""

    launch: Launch
    directory: str

    def rules(self, *rules: dict[str, Any], seed: int | None = None) -> None:
        """Replace the rules and count from nothing."""
        arguments = ["--rules", json.dumps(rules)] + ([] if seed is None else ["--seed", str(seed)])
        self.launch("faults", "--dir", self.directory, *arguments, "--clear-counts")

    def counts(self) -> dict[str, Any]:
        result: dict[str, Any] = self.launch("faults", "--dir", self.directory)["counts"]
        return result

    def path(self, name: str = "kubeconfig-faults") -> str:
        return str(Path(self.directory, name))


class Client:
    """Plain requests as a kubeconfig says."""

    def __init__(self, kubeconfig: str) -> None:
        content = yaml.safe_load(Path(kubeconfig).read_text())
        cluster = content["clusters"][0]["cluster"]
        self.server: str = cluster["server"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._pool = urllib3.PoolManager(ca_cert_data=authority, retries=False, maxsize=8)
        self._headers = {"Authorization": f"Bearer {content['users'][0]['user']['token']}"}

    def __call__(self, method: str, path: str, **more: Any) -> urllib3.BaseHTTPResponse:
        return self._pool.request(method, self.server + path, **{"headers": self._headers, **more})

    def secret(self, name: str, size: int = 0, **more: Any) -> urllib3.BaseHTTPResponse:
        """Create one."""
        return self("POST", SECRETS, json={"metadata": {"name": name}, "stringData": {"a": "x" * size}}, **more)

    def names(self) -> set[str]:
        """The names of all secrets."""
        return {item["metadata"]["name"] for item in self("GET", SECRETS).json()["items"]}


@pytest.fixture(scope="module")
def faulty(launch: Launch, start_cluster: Launch) -> Faulty:
    return Faulty(launch, start_cluster("--no-kubevirt", "--faults")["dir"])


@pytest.fixture
def client(faulty: Faulty) -> Client:
    """Goes through the proxy, which makes no fault yet."""
    faulty.rules()
    return Client(faulty.path())


@pytest.fixture
def direct(faulty: Faulty) -> Client:
    """Goes to the API server itself."""
    return Client(faulty.path("kubeconfig"))


def _name() -> str:
    return f"s-{uuid.uuid4().hex[:10]}"


def test_without_rules_nothing_is_different(client: Client, direct: Client) -> None:
    name = _name()
    assert client.secret(name).status == 201
    for accept in ("application/json", "application/json;as=Table;v=v1;g=meta.k8s.io", "application/yaml"):
        headers = {**client._headers, "Accept": accept, "Accept-Encoding": "gzip"}
        item, other = (way("GET", f"{SECRETS}/{name}", headers=headers) for way in (client, direct))
        assert item.data == other.data
        assert item.headers["Content-Type"] == other.headers["Content-Type"]
    assert client("GET", f"{SECRETS}/{_name()}").status == 404
    assert client("GET", SECRETS, headers={}).status == direct("GET", SECRETS, headers={}).status == 403


def test_requests_are_counted_by_verb_and_resource(faulty: Faulty, client: Client) -> None:
    name = _name()
    client.secret(name)
    for _unused in range(3):
        client("GET", f"{SECRETS}/{name}")
    client("GET", "/api/v1/secrets?limit=1")
    apply = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
    headers = {**client._headers, "Content-Type": "application/apply-patch+yaml"}
    client("PATCH", f"{SECRETS}/{name}?fieldManager=me&dryRun=All", headers=headers, body=json.dumps(apply))
    client("PATCH", f"{SECRETS}/{name}?fieldManager=me", headers=headers, body=json.dumps(apply))
    client("DELETE", f"{SECRETS}/{name}")
    counts = faulty.counts()
    expected = {"apply secrets": 2, "create secrets": 1, "delete secrets": 1, "get secrets": 3, "list secrets": 1}
    assert counts["by_resource"] == expected
    assert (counts["requests"], counts["writes"]) == (8, 3)
    assert counts["responses"] == {"200": 7, "201": 1}
    assert counts["faults"] == {}


def test_concurrent_requests_are_counted(faulty: Faulty, client: Client) -> None:
    faulty.rules({"fault": "latency", "seconds": 0.5})
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda _: client("GET", "/api"), range(5)))
    assert faulty.counts()["max_concurrent"] == 5


@pytest.mark.parametrize("status", [409, 429, 500, 503, 504])
def test_status_is_answered_without_the_api_server(faulty: Faulty, client: Client, direct: Client, status: int) -> None:
    faulty.rules({"fault": "status", "status": status, "retry_after": 7, "methods": ["POST"]})
    name = _name()
    answer = client.secret(name)
    assert (answer.status, answer.headers["Retry-After"]) == (status, "7")
    assert (answer.json()["kind"], answer.json()["code"]) == ("Status", status)
    assert name not in direct.names()
    assert faulty.counts()["faults"] == {"status": 1}


def test_status_may_hide_a_completed_write(faulty: Faulty, client: Client, direct: Client) -> None:
    faulty.rules({"fault": "status", "status": 502, "when": "after"})
    name = _name()
    answer = client.secret(name)
    assert answer.status == 502
    with pytest.raises(ValueError, match="Expecting value"):
        answer.json()
    assert name in direct.names()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_is_reset_without_an_answer(faulty: Faulty, client: Client, direct: Client, when: str) -> None:
    faulty.rules({"fault": "reset", "when": when})
    name = _name()
    with pytest.raises(urllib3.exceptions.ProtocolError):
        client.secret(name)
    assert (name in direct.names()) == (when == "after")


@pytest.mark.parametrize("when", ["before", "after"])
def test_request_is_held_until_client_timeout(faulty: Faulty, client: Client, direct: Client, when: str) -> None:
    faulty.rules({"fault": "hold", "when": when, "skip": 1, "times": 1})
    passed, held = _name(), _name()
    assert client.secret(passed).status == 201
    with pytest.raises(urllib3.exceptions.ReadTimeoutError):
        client.secret(held, timeout=1)
    assert (held in direct.names()) == (when == "after")


def test_a_body_is_cut(faulty: Faulty, client: Client) -> None:
    faulty.rules({"fault": "cut", "after_bytes": 100})
    with pytest.raises(urllib3.exceptions.ProtocolError, match=r"IncompleteRead\(100 bytes read, "):
        client("GET", "/version")


def test_truncated_body_in_well_formed_response(faulty: Faulty, client: Client, direct: Client) -> None:
    faulty.rules({"fault": "truncate"})
    whole, half = direct("GET", "/version").data, client("GET", "/version").data
    assert half == whole[: len(whole) // 2]


def test_a_slow_body_arrives_whole(faulty: Faulty, client: Client, direct: Client) -> None:
    faulty.rules({"fault": "slow", "bytes_per_second": 500})
    whole = direct("GET", "/version").data
    began = time.monotonic()
    assert client("GET", "/version").data == whole
    assert time.monotonic() - began >= len(whole) / 500


def _events(client: Client, name: str, version: str) -> Iterator[dict[str, Any]]:
    """The events of a secret."""
    query = f"watch=1&resourceVersion={version}&fieldSelector=metadata.name%3D{name}&timeoutSeconds=60"
    answer = client("GET", f"{SECRETS}?{query}", preload_content=False)
    rest = b""
    for chunk in answer.stream(65536):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from map(json.loads, lines)


def _changed_thrice(direct: Client) -> tuple[str, str]:
    """The name of a secret that was changed twice, and the resourceVersion before it was created."""
    version = direct("GET", f"{SECRETS}?limit=1").json()["metadata"]["resourceVersion"]
    name = _name()
    assert direct.secret(name).status == 201
    for number in (1, 2):
        headers = {**direct._headers, "Content-Type": "application/merge-patch+json"}
        patch = json.dumps({"metadata": {"labels": {"number": str(number)}}})
        assert direct("PATCH", f"{SECRETS}/{name}", headers=headers, body=patch).status == 200
    return name, version


def test_watch_events_are_passed_on_at_once(client: Client, direct: Client) -> None:
    name, version = _changed_thrice(direct)
    events = _events(client, name, version)
    assert [next(events)["type"] for _unused in range(3)] == ["ADDED", "MODIFIED", "MODIFIED"]
    direct("DELETE", f"{SECRETS}/{name}")
    assert next(events)["type"] == "DELETED"


def test_watch_is_cut_after_n_events(faulty: Faulty, client: Client, direct: Client) -> None:
    name, version = _changed_thrice(direct)
    faulty.rules({"fault": "watch_cut", "after_events": 2})
    events = _events(client, name, version)
    assert [next(events)["type"] for _unused in range(2)] == ["ADDED", "MODIFIED"]
    with pytest.raises(urllib3.exceptions.ProtocolError):
        next(events)


def test_watch_reports_an_outdated_version(faulty: Faulty, client: Client, direct: Client) -> None:
    name, version = _changed_thrice(direct)
    faulty.rules({"fault": "watch_gone", "after_events": 1})
    events = list(_events(client, name, version))
    assert [event["type"] for event in events] == ["ADDED", "ERROR"]
    assert (events[1]["object"]["code"], events[1]["object"]["reason"]) == (410, "Expired")


def test_watch_events_come_twice(faulty: Faulty, client: Client, direct: Client) -> None:
    name, version = _changed_thrice(direct)
    faulty.rules({"fault": "watch_twice"})
    events = _events(client, name, version)
    seen = [next(events) for _unused in range(6)]
    assert [event["type"] for event in seen] == ["ADDED"] * 2 + ["MODIFIED"] * 4
    assert seen[::2] == seen[1::2]


def test_rule_ends_after_its_count(faulty: Faulty, client: Client) -> None:
    faulty.rules({"fault": "status", "status": 503, "times": 2}, {"fault": "status", "status": 500, "path": "^/api$"})
    assert [client("GET", path).status for path in ("/api", "/version", "/version", "/api")] == [503, 503, 200, 500]


def test_a_seed_repeats_the_faults(faulty: Faulty, client: Client) -> None:
    rule = {"fault": "status", "status": 503, "rate": 0.5}

    def seen(seed: int) -> list[int]:
        faulty.rules()
        faulty.rules(rule, seed=seed)
        return [client("GET", "/version").status for _unused in range(20)]

    assert seen(1) == seen(1) != seen(2)


def test_session_survives_temporary_faults(faulty: Faulty, client: Client) -> None:
    session = Session({"kubeconfig": faulty.path()})
    faulty.rules(
        {"fault": "status", "status": 429, "retry_after": 1, "times": 1},
        {"fault": "reset", "times": 1},
        {"fault": "cut", "times": 1},
        {"fault": "truncate", "times": 1},
        {"fault": "status", "status": 502, "times": 1},
    )
    assert session.get(KINDS["Namespace"], None, "default")
    counts = faulty.counts()
    assert counts["faults"] == {"status": 2, "reset": 1, "cut": 1, "truncate": 1}
    assert counts["requests"] == 6


def test_session_reports_permanent_faults(faulty: Faulty, client: Client) -> None:
    session = Session({"kubeconfig": faulty.path(), "retry_timeout": 1})
    assert session.request("GET", "/version")
    faulty.rules({"fault": "status", "status": 503})
    with pytest.raises(ApiError) as refused:
        session.request("GET", "/version")
    assert refused.value.code == 503
    faulty.rules({"fault": "reset"})
    with pytest.raises(ConnectionFailed, match="cannot reach the API server"):
        session.request("GET", "/version")


def test_only_the_administrator_switches_faults(faulty: Faulty, client: Client) -> None:
    for headers in ({}, {"Authorization": "Bearer x"}):
        assert client("PUT", "/-/faults", headers=headers, json={"rules": [{"fault": "reset"}]}).status == 403
    assert faulty.launch("faults", "--dir", faulty.directory)["rules"] == []


def test_setting_the_same_rules_again_changes_nothing(faulty: Faulty, client: Client) -> None:
    arguments = ("faults", "--dir", faulty.directory, "--rules", "[{fault: reset, path: /nothing}]")
    assert [faulty.launch(*arguments)["changed"] for _unused in range(2)] == [True, False]
    assert faulty.launch(*arguments, "--seed", "1")["changed"]


def test_invalid_rules_change_nothing(faulty: Faulty, client: Client) -> None:
    refused = faulty.launch("faults", "--dir", faulty.directory, "--rules", "[{fault: status}]", check=False)
    assert refused["msg"] == "fault_rules[0].status: required for the fault status"
    assert faulty.launch("faults", "--dir", faulty.directory)["rules"] == []


def test_start_sets_rules_on_a_running_cluster(faulty: Faulty, client: Client) -> None:
    start = ("start", "--no-kubevirt", "--faults", "--dir", faulty.directory)
    before = faulty.launch("status", "--dir", faulty.directory)["processes"]
    rules = ("--fault-rules", "[{fault: status, status: 500}]", "--fault-seed", "1")
    assert faulty.launch(*start, *rules, "--check")["changed"]
    assert client("GET", "/version").status == 200
    assert faulty.launch(*start, *rules)["changed"]
    assert client("GET", "/version").status == 500
    assert not faulty.launch(*start, *rules)["changed"]
    assert not faulty.launch(*start)["changed"]
    assert faulty.launch(*start, "--fault-rules", "[]")["changed"]
    assert client("GET", "/version").status == 200
    assert faulty.launch("status", "--dir", faulty.directory)["processes"] == before


def test_without_a_proxy_there_are_no_faults(launch: Launch, tmp_path: Path) -> None:
    directory = ("--dir", str(tmp_path / "cluster"))
    refused = launch("start", "--no-kubevirt", "--fault-rules", "[]", *directory, check=False)
    assert refused["msg"] == "fault_rules: the cluster has no fault proxy; set faults too"
    assert launch("faults", *directory, check=False)["msg"].endswith(
        "runs without a fault proxy; start the cluster with faults"
    )
    assert not (tmp_path / "cluster").exists()
