"""A cluster that is down, or refuses: one line says so, and what was missed is told afterwards."""

import threading
from typing import Any

import pytest

from plugins.module_utils._cluster.client.errors import RequestFailed
from plugins.module_utils._events.cluster import triggers
from plugins.module_utils._events.cluster.source import watch_cluster
from plugins.module_utils._events.source_options import ClusterOptions, source_options
from scripted_server import Store, session_with, status

VM = {
    "metadata": {"name": "db", "namespace": "shop", "uid": "vm", "resourceVersion": "5", "generation": 1},
    "spec": {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}},
    "status": {"startFailure": {"lastFailedVMIUID": "guest"}},
}
EXPIRED = status(401, "Unauthorized", "Unauthorized")
DENIED = status(403, "virtualmachines is forbidden", "Forbidden")
ONE, TWO = ({"clusters": [{"name": name} for name in names]} for names in (["east"], ["east", "west"]))
# All watches ask first, and then more than one look, so that a line could be logged again.
REFUSED = 14


def watch(
    refusal: tuple[int, Any] | None, arguments: dict[str, Any], *, at_first: bool, warning: str = ""
) -> list[str]:
    """The transitions told by a source whose cluster refuses some requests, None: does not answer them.

    warning: the header of all other answers.
    """
    kinds = ("kubevirt.io/v1/virtualmachines", "kubevirt.io/v1/virtualmachineinstances", "apps/v1/controllerrevisions")
    store = Store({f"/apis/{kind}": [] for kind in kinds})
    told: list[str] = []
    stop, asked, looks = threading.Event(), 0, 0

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[Any, ...] | None:
        nonlocal asked, looks
        if path.endswith("/virtualmachines") and query.get("limit") != "1" and not query.get("watch"):
            looks += 1
        if (at_first or looks > 2) and asked < REFUSED:
            asked += 1
            return refusal
        if asked == REFUSED:
            store.lists["/apis/kubevirt.io/v1/virtualmachines"] = [VM]
        return (*(store(method, path, query) or ()), {"Warning": warning} if warning else {})

    def put(event: dict[str, Any]) -> None:
        told.append(event["transition"])
        stop.set()

    with session_with(answer) as session:
        auth = {"host": session.host, "api_key": "x", "retry_timeout": 0.01}
        options = source_options(
            {"delay": 0.01, "resync": 0.01, "transitions": ["stopped_unexpectedly"], **arguments}, {}
        )
        watch_cluster(options, ClusterOptions("east", auth), put, stop)
    return told


@pytest.mark.parametrize(
    ("refusal", "problem"),
    [(EXPIRED, "the API server rejected the credentials"), (None, "cannot reach the API server")],
    ids=["credentials", "connection"],
)
@pytest.mark.parametrize("at_first", [True, False])
def test_outage_is_one_line(refusal: Any, problem: str, at_first: bool, caplog: pytest.LogCaptureFixture) -> None:
    assert watch(refusal, TWO, at_first=at_first) == ["stopped_unexpectedly"]
    assert [record.getMessage()[: len(problem) + 6] for record in caplog.records] == [f"east: {problem}"]


def test_warning_of_the_api_server_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    watch(EXPIRED, TWO, at_first=False, warning='299 - "v1 is deprecated"')
    lines = [record.getMessage() for record in caplog.records if "deprecated" in record.getMessage()]
    assert len(lines) == len({line.partition(":")[0] for line in lines}) > 0
    assert all(line.endswith(": v1 is deprecated") for line in lines)


@pytest.mark.parametrize("refusal", [EXPIRED, DENIED])
def test_only_cluster_that_refuses_ends_the_source(refusal: Any) -> None:
    with pytest.raises(RequestFailed):
        watch(refusal, ONE, at_first=True)


def test_cluster_that_refuses_later_is_asked_again() -> None:
    assert watch(EXPIRED, ONE, at_first=False) == ["stopped_unexpectedly"]


def test_kubeconfig_of_one_cluster_may_be_missing(caplog: pytest.LogCaptureFixture) -> None:
    def run(arguments: dict[str, Any], stop: threading.Event) -> None:
        cluster = ClusterOptions("east", {"kubeconfig": "/nothing"})
        watch_cluster(source_options(arguments, {}), cluster, lambda _event: None, stop)

    with pytest.raises(RequestFailed, match="kubeconfig /nothing: no such file"):
        run(ONE, threading.Event())
    stop = threading.Event()
    thread = threading.Thread(target=run, args=(TWO, stop))
    thread.start()
    while not caplog.records:
        assert thread.is_alive()
    stop.set()
    thread.join()
    assert [record.getMessage() for record in caplog.records] == [
        "east: kubeconfig /nothing: no such file; set kubeconfig or K8S_AUTH_KUBECONFIG"
    ]


def test_watch_does_not_end_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    def defective(*_arguments: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(triggers, "concerned", defective)
    store = Store({"/apis/kubevirt.io/v1/virtualmachines": [VM], "/apis/apps/v1/controllerrevisions": []})
    stop = threading.Event()
    with session_with(store) as session, pytest.raises(ZeroDivisionError):
        auth = {"host": session.host, "api_key": "x"}
        watch_cluster(source_options({}, {}), ClusterOptions("", auth), lambda _event: None, stop)
    # The watches that have no defect end too.
    assert stop.is_set()
