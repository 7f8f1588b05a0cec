"""The event source with no more than its rights: it tells each transition once, also after a gap and a restart."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import wait_until

from event_support import Events
from modules_support import Task, vm
from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._events.transitions import KnownVM, known_of
from rights_support import atoms, granted

RIGHTS = "event_sources/virtual_machines"


def known(state: Path) -> dict[str, KnownVM]:
    """The VMs in a state file."""
    _header, *lines = state.read_text(encoding="utf-8").split("\n")[:-1]
    return known_of(lines)


@pytest.fixture
def expired(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Once set, the next event of a watch of VMs is lost, because the watch has expired."""
    result, original = threading.Event(), Session.watch

    def watch(self: Session, kind: Any, *arguments: Any, **query: str) -> Iterator[dict[str, Any]]:
        for event in original(self, kind, *arguments, **query):
            if kind.kind == "VirtualMachine" and result.is_set():
                result.clear()
                raise ApiError(410, {"reason": "Expired", "message": "too old resource version"})
            yield event

    monkeypatch.setattr(Session, "watch", watch)
    return result


def test_each_transition_is_told_once(cluster: Path, task: Task, expired: threading.Event) -> None:
    with granted(cluster, [RIGHTS]) as account:
        place = {"namespace": account.namespace}

        def size(memory: str) -> None:
            assert task("instancetype", **place, name="small", cpu={"guest": 1}, memory={"guest": memory})["changed"]

        def declare(name: str) -> None:
            entry = {key: value for key, value in vm(name).items() if key != "preference"}
            task("virtual_machine", **place, **entry, wait=True)

        events = Events()
        arguments = {
            **place,
            "kubeconfig": str(cluster),
            "impersonate_user": account.user,
            "impersonate_groups": account.groups(atoms(RIGHTS)),
            "state_config_map": f"{account.namespace}/state",
            "delay": 0.2,
        }
        size("1Gi")
        declare("a")
        with events.of(**arguments):
            wait_until(lambda: ("running", "a") in events.told)
            expired.set()
            declare("b")
            wait_until(lambda: ("running", "b") in events.told)
            assert not expired.is_set()
            size("2Gi")
            wait_until(lambda: {("drifted", "a"), ("drifted", "b")} <= set(events.told))
        before = len(events.sent)
        size("3Gi")
        task("virtual_machine", **place, name="b", state="absent", wait=True)
        with events.of(**arguments):
            wait_until(lambda: len(events.sent) >= before + 2)
        assert sorted(events.told[before:]) == [("deleted", "b"), ("drifted", "a")]
        assert len({event["id"] for event in events.sent}) == len(events.sent)


@pytest.mark.nightly("many clusters, selectors, projection and feedback")
def test_clusters_tell_what_is_selected(cluster: Path, task: Task, namespace: str, tmp_path: Path) -> None:
    """One cluster by two names; nothing is told before the rule engine has taken the event before."""
    place = {"namespace": namespace}

    def declare(name: str, tier: str) -> None:
        entry = {key: value for key, value in vm(name).items() if key != "preference"}
        task("virtual_machine", **place, **entry, labels={"tier": tier}, wait=True)

    task("instancetype", **place, name="small", cpu={"guest": 1}, memory={"guest": "1Gi"})
    for name, tier in (("a", "web"), ("b", "data"), ("c", "web")):
        declare(name, tier)
    arguments = {
        **place,
        "clusters": [{"name": name, "kubeconfig": str(cluster)} for name in ("east", "west")],
        "label_selectors": ["tier=web"],
        "field_selectors": ["metadata.name!=c"],
        "fields": ["metadata.labels.tier", "spec.runStrategy"],
        "transitions": ["running", "deleted"],
        "state_directory": str(tmp_path),
        "delay": 0.2,
    }
    events, taken = Events(), threading.Event()
    with events.of(taken, **arguments):
        wait_until(lambda: bool(events.sent))
        # The other cluster has its event, too, which waits.
        declare("b", "web")
        assert len(events.sent) == 1
        taken.set()
        wait_until(lambda: len(events.sent) >= 4)
        declare("a", "data")
        # A VM that is gone before the source has looked at its labels counts as deleted.
        wait_until(lambda: not any(f"{namespace}/a" in known(path) for path in tmp_path.glob("*.jsonl")))
        task("virtual_machine", **place, name="a", state="absent", wait=True)
        task("virtual_machine", **place, name="b", state="absent", wait=True)
        wait_until(lambda: len(events.sent) >= 6)
    told = sorted((event["cluster"], event["transition"], event["name"]) for event in events.sent)
    assert told == [
        (name, *what) for name in ("east", "west") for what in (("deleted", "b"), ("running", "a"), ("running", "b"))
    ]
    seen = [event["virtual_machine"] for event in events.sent if event["transition"] == "running"]
    assert seen == [{"metadata": {"labels": {"tier": "web"}}, "spec": {"runStrategy": "Always"}}] * 4
    assert {path.name for path in tmp_path.glob("*.jsonl")} == {"east.jsonl", "west.jsonl"}
