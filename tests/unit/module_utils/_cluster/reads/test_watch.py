"""Waiting for objects: one watch for all, what is stuck, and what is said of those that are late."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from plugins.module_utils._cluster.client.errors import ConnectionFailed
from plugins.module_utils._cluster.reads import watch
from plugins.module_utils._cluster.reads.watch import WATCHES, _Wait, wait_for, wait_in_namespaces
from plugins.module_utils._resolver.api.kinds import KINDS
from plugins.module_utils._resolver.api.manifest import STALE, Progress
from scripted_server import VMS, Answer, Lister, Manifest, listed, session_with, status

VM = KINDS["VirtualMachine"]
EVENTS = "/api/v1/namespaces/shop/events"


def vm(name: str, phase: str, *conditions: Manifest) -> Manifest:
    return {"metadata": {"name": name}, "status": {"phase": phase, "conditions": list(conditions)}}


def change(kind: str, item: Manifest) -> Manifest:
    return {"type": kind, "object": item}


def probe(_name: str, item: Manifest | None) -> Progress:
    phase = item["status"]["phase"] if item is not None else "gone"
    if phase == "broken":
        return Progress(failed="it is broken")
    if phase == "stuck":
        return Progress(stuck="it is stuck", grace=0.05)
    return Progress(done=phase == "good", pending=f"it to be good (now {phase})")


def wait(answer: Answer, *names: str, seconds: float = 30) -> dict[str, str | None]:
    with session_with(answer, retry_timeout=30) as session:
        ended = wait_for(session, VM, "shop", names, probe, seconds)
    return {name: failure for name, (_live, failure) in ended.items()}


def test_one_list_and_one_watch_for_all() -> None:
    observed: list[str] = []

    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        observed.append("watch" if "watch" in query else f"list {path}")
        if path != VMS:
            return 200, listed()
        if "watch" not in query:
            return 200, listed(vm("a", "good"), vm("b", "new"), vm("c", "new"), vm("other", "new"))
        return 200, [
            change("MODIFIED", vm("other", "broken")),
            change("MODIFIED", vm("b", "good")),
            change("BOOKMARK", {"metadata": {}}),
            change("MODIFIED", vm("c", "broken")),
        ]

    assert wait(answer, "a", "b", "c") == {"a": None, "b": None, "c": "it is broken"}
    # The other objects that the failed one needs are listed in the end.
    assert observed[:2] == [f"list {VMS}", "watch"] and len(observed) == 2 + 5


def test_stuck_objects_fail_after_their_grace_without_events() -> None:
    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        return 200, [] if "watch" in query or path != VMS else listed(vm("a", "stuck"))

    assert wait(answer, "a") == {"a": "it is stuck"}


class Stuck(Lister):
    """A session in which the objects get stuck one after the other, each by a watch of its own."""

    def __init__(self, *names: str) -> None:
        self.due = list(names)
        self.lists = 0

    def list_to_watch(self, kind: Any, *_arguments: Any, **_query: str) -> tuple[list[Manifest], str]:
        self.lists += kind is VM
        return [vm(name, "new") for name in self.due], "1"

    def watch(self, *_arguments: Any, **_query: str) -> Iterator[Manifest]:
        for name in self.due[:1]:
            del self.due[0]
            yield change("MODIFIED", vm(name, "stuck"))


def test_stuck_objects_are_not_listed_again() -> None:
    session: Any = Stuck(*"abcd")
    ended = wait_for(session, VM, "shop", list("abcd"), probe, 30)
    assert {name: failure for name, (_live, failure) in ended.items()} == dict.fromkeys("abcd", "it is stuck")
    assert session.lists == 1


def test_next_probe_does_not_iterate_over_stuck_objects() -> None:
    class Kept(dict[str, float]):
        def values(self) -> Any:
            raise AssertionError("all are gone through")

        __iter__ = items = values

    wait = _Wait("abc", probe, time.monotonic() + 30)
    wait._given_up_at = Kept()
    for name in "abc":
        wait.observe(name, vm(name, "stuck"))
    first = wait.next_probe
    wait.observe("a", vm("a", "new"))
    assert first < wait.next_probe < wait.deadline
    for name in "bc":
        wait.observe(name, vm(name, "good"))
    assert (wait.next_probe, list(wait.open)) == (wait.deadline, ["a"])


def test_stuck_object_may_recover() -> None:
    def answer(_method: str, _path: str, query: dict[str, str]) -> tuple[int, Any]:
        return 200, [change("MODIFIED", vm("a", "good"))] if "watch" in query else listed(vm("a", "stuck"))

    assert wait(answer, "a") == {"a": None}


def test_a_watch_that_is_too_old_begins_again() -> None:
    lists = [listed(vm("a", "new")), listed(vm("a", "good"))]

    def answer(_method: str, _path: str, query: dict[str, str]) -> tuple[int, Any]:
        gone = {"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old", "metadata": {}}}
        return 200, [gone] if "watch" in query else lists.pop(0)

    assert wait(answer, "a") == {"a": None}
    assert lists == []


def test_a_watch_resumes_from_the_last_resource_version() -> None:
    observed: list[str] = []

    def answer(_method: str, _path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        observed.append(query.get("resourceVersion", "list"))
        if "watch" not in query:
            return 200, listed(vm("a", "new"))
        if len(observed) == 2:
            return 200, [change("BOOKMARK", {"metadata": {"resourceVersion": "7"}})]
        if len(observed) == 3:
            return None
        good = vm("a", "good")
        return 200, [change("MODIFIED", good)]

    assert wait(answer, "a") == {"a": None}
    assert observed == ["list", "1", "7", "7"]


@pytest.mark.parametrize("readable", [True, False])
def test_late_objects_report_conditions_and_newest_events(readable: bool) -> None:
    def event(about: str, kind: str, minute: int, message: str) -> Manifest:
        times = {"lastTimestamp": f"2026-01-01T00:0{minute}:00Z"}
        return {
            "involvedObject": {"name": about, "kind": kind},
            "reason": "R",
            "message": message,
            "metadata": {"name": message},
            **times,
        }

    events = listed(
        event("a", "VirtualMachine", 4, "last"),
        event("a", "VirtualMachine", 1, "first"),
        event("virt-launcher-a-x1y2z", "Pod", 3, "no\n node"),
        event("virt-launcher-a-b-x1y2z", "Pod", 5, "of another"),
        event("a", "VirtualMachineInstance", 2, "second"),
    )

    def answer(_method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path == EVENTS:
            return (200, events) if readable else status(403, "forbidden", "Forbidden")
        if not path.endswith("/virtualmachines"):
            return 200, listed()
        ready = {"type": "Ready", "status": "False", "reason": "PodNotExists", "message": "no\npod"}
        return 200, [] if "watch" in query else listed(vm("a", "new", ready, {"type": "X", "status": "True"}))

    text = wait(answer, "a", seconds=0)["a"]
    late = (
        "not ready after 0 s, waiting for it to be good (now new); conditions: Ready=False (PodNotExists: no"
        " pod), X=True"
    )
    assert text == (f"{late}; events: R: second, R: no node, R: last" if readable else late)


@pytest.mark.parametrize(("reachable", "failure"), [(True, None), (False, "no answer")])
def test_lists_show_progress_where_watches_are_blocked(reachable: bool, failure: str | None) -> None:
    class Held(Lister):
        """A session whose watches get no answer, as behind a proxy that buffers them."""

        lists = 0

        def list_to_watch(self, *_arguments: Any, **_query: str) -> tuple[list[Manifest], str]:
            self.lists += 1
            if self.lists > 1 and not reachable:
                raise ConnectionFailed("no answer")
            return [vm("a", "new" if self.lists == 1 else "good")], "1"

        def watch(self, *_arguments: Any, **_query: str) -> Iterator[Manifest]:
            raise ConnectionFailed("no answer")

    session: Any = Held()
    assert wait_for(session, VM, "shop", ["a"], probe, 30)["a"][1] == failure


def test_a_forbidden_watch_fails_all_objects() -> None:
    def answer(_method: str, _path: str, query: dict[str, str]) -> tuple[int, Any]:
        if "watch" in query:
            return status(403, 'cannot watch resource "virtualmachines"', "Forbidden")
        return 200, listed(vm("a", "good"), vm("b", "new"))

    result = wait(answer, "a", "b")
    assert result["a"] is None
    assert 'grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["watch"]}' in str(result["b"])


def test_failure_from_before_the_write_has_grace() -> None:
    assert Progress(failed="old").with_grace() == Progress(stuck="old", grace=STALE)
    assert Progress(pending="it").with_grace() == Progress(pending="it")


class Busy(Lister):
    """A session of many namespaces: watches last until `together` of them are open, or end at once after that."""

    def __init__(self, together: int) -> None:
        self.meeting = threading.Barrier(together, timeout=20)
        self.open = self.most = 0
        self._lock = threading.Lock()

    def list_to_watch(self, *_arguments: Any, **_query: str) -> tuple[list[Manifest], str]:
        return [vm("a", "new")], "1"

    def watch(self, *_arguments: Any, **_query: str) -> Iterator[Manifest]:
        with self._lock:
            self.open += 1
            self.most = max(self.most, self.open)
        self.meeting.wait()
        with self._lock:
            self.open -= 1
        yield change("MODIFIED", vm("a", "good"))


@pytest.mark.parametrize(("namespaces", "together"), [(20, 20), (4 * WATCHES, WATCHES)])
def test_concurrent_watches_of_namespaces_are_limited(namespaces: int, together: int) -> None:
    session: Any = Busy(together)
    places = [(f"ns-{number}", "a") for number in range(namespaces)]
    ended = wait_in_namespaces(session, VM, {place: lambda item: probe("a", item) for place in places}, 60)
    assert list(ended) == places and {failure for _live, failure in ended.values()} == {None}
    assert session.most == together


def test_namespace_is_listed_once_after_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Lister):
        listed: list[str]

        def list_to_watch(
            self, kind: Any, namespace: str, *_arguments: Any, **_query: str
        ) -> tuple[list[Manifest], str]:
            if kind.kind != "VirtualMachine":
                return [], "1"
            self.listed.append(namespace)
            return [vm("a", "good" if namespace == "good" else "new")], "1"

        def watch(self, *_arguments: Any, **_query: str) -> Iterator[Manifest]:
            return iter(())

    monkeypatch.setattr(watch, "WATCHES", 1)
    session: Any = Slow()
    session.listed = []
    places = [(namespace, "a") for namespace in ("slow", "late", "good")]
    ended = wait_in_namespaces(session, VM, {place: lambda item: probe("a", item) for place in places}, 0.3)
    assert [str(failure).partition(",")[0] for _live, failure in ended.values()] == [
        "not ready after 0.3 s",
        "not ready after 0.3 s",
        "None",
    ]
    assert session.listed == ["slow", "late", "good"]


def test_absent_objects_end_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK", 0.0)
    looks = iter([{"a": "no Secret", "b": "no Secret"}, {"a": "no Secret", "gone": "no Secret"}])
    waits = _Wait("abc", probe, time.monotonic() + 30, lambda _names: next(looks))
    waits.end_deadlocks()
    # An object may appear soon after the pod.
    assert sorted(waits.open) == ["a", "b", "c"]
    waits.end_deadlocks()
    assert sorted(waits.open) == ["b", "c"]
    assert waits.ended["a"][1] == "no Secret"


def test_a_look_takes_its_time() -> None:
    waits = _Wait("a", probe, time.monotonic() + 30, lambda _names: {"a": "no Secret"})
    waits.end_deadlocks()
    waits.end_deadlocks()
    assert list(waits.open) == ["a"]
    assert waits.next_probe < waits.deadline
