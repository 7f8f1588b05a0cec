"""Waits for objects with one watch for each kind and namespace, and says what delays them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from heapq import heappop, heappush

from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest, Progress
from ..client.concurrency import Backoff, map_concurrently, seconds_left
from ..client.errors import ApiError, ConnectionFailed, RequestFailed
from ..client.sender import PASSING
from ..client.session import Session

_VOLUME = "DataVolume"
_VM = "VirtualMachine"
# The most watches at the same time. Each is a thread and a connection; further namespaces wait for their turn.
WATCHES = 64
# Seconds between two looks at what VMs need: as long as a VM waits for a missing disk, two of them.
LOOK = 10.0


Probe = Callable[[str, "Manifest | None"], Progress]


def wait_in_namespaces(
    session: Session,
    kind: Kind,
    probes: Mapping[tuple[str, str], Callable[[Manifest | None], Progress]],
    timeout: float,
    *,
    metadata_only: bool = False,
    explain: bool = True,
) -> dict[tuple[str, str], tuple[Manifest | None, str | None]]:
    """Waits like `wait_for`, for objects of several namespaces. probes: (namespace, name) → probe.

    The time is for all: a namespace whose turn comes after it is read just once.
    """
    deadline = time.monotonic() + timeout
    namespaces: dict[str, dict[str, Callable[[Manifest | None], Progress]]] = {}
    for (namespace, name), probe in probes.items():
        namespaces.setdefault(namespace, {})[name] = probe

    def wait_in(namespace: str) -> dict[str, tuple[Manifest | None, str | None]]:
        members = namespaces[namespace]
        return wait_for(
            session,
            kind,
            namespace,
            members,
            lambda name, item: members[name](item),
            timeout,
            deadline,
            metadata_only=metadata_only,
            explain=explain,
        )

    ended = zip(namespaces, map_concurrently(wait_in, namespaces, WATCHES))
    return {(namespace, name): waited for namespace, by_name in ended for name, waited in by_name.items()}


def wait_for(
    session: Session,
    kind: Kind,
    namespace: str | None,
    names: Iterable[str],
    probe: Probe,
    timeout: float,
    deadline: float | None = None,
    *,
    metadata_only: bool = False,
    explain: bool = True,
) -> dict[str, tuple[Manifest | None, str | None]]:
    """Watches until `probe(name, object or None)` is done or failed for each name, or until the timeout.

    Returns for each name the object as last seen, None if it does not exist, and the failure, None on success.
    deadline: when the timeout ends, if it has begun before.
    A late object fails with what it waits for, its conditions and its newest events, or with the finalizers that hold
    it. An object that is late or has failed also fails with what the objects say that keep it (see `blockers`), which
    are read only then. A VM whose pod or disk needs an object that does not exist ends after two looks, like one
    without its disk. metadata_only: `probe` needs only the metadata. explain: whether to read what keeps objects; a
    caller that may go on without them need not.
    """
    needs_others = explain and kind.kind in (_VM, _VOLUME) and not metadata_only
    looks = partial(_absent, session, namespace) if needs_others and namespace else None
    wait = _Wait(names, probe, time.monotonic() + timeout if deadline is None else deadline, looks)
    try:
        while True:
            _list_and_watch(session, kind, namespace, wait, metadata_only)
            if wait.over:
                break
    except RequestFailed as error:
        failure = str(error)
        wait.end_all(lambda _name: failure)
        return wait.ended
    late, failed = wait.open, wait.failed
    if not late and not failed:
        return wait.ended
    # Only a wait that does not succeed needs to know why.
    from .delays import blockers, failure_text, listed_events, newest_events, timeout_text

    events: list[Manifest] = []
    blocked: dict[str, list[str]] = {}
    if explain and namespace:
        events = listed_events(session, namespace)
        blocked = blockers(session, kind.kind, namespace, {name: wait.last[name] for name in (*late, *failed)}, events)
    newest = newest_events(events, {name: wait.last[name] for name in late})
    for name, failure in failed.items():
        wait.ended[name] = wait.last[name], failure_text(failure, blocked.get(name, ()))
    wait.end_all(
        lambda name: timeout_text(timeout, late[name], wait.last[name], blocked.get(name, []), newest.get(name, []))
    )
    return wait.ended


def _absent(session: Session, namespace: str, late: Mapping[str, Manifest | None]) -> Mapping[str, str]:
    """See `delays.absent_objects`, which only a VM or a disk that keeps a task waiting needs."""
    from .delays import absent_objects

    return absent_objects(session, namespace, late)


class _Wait:
    """The progress of a wait.

    open: the names still pending. ended: the others. last: each object as last seen. pauses: between watches without
    events.
    """

    def __init__(
        self,
        names: Iterable[str],
        probe: Probe,
        deadline: float,
        absent: Callable[[Mapping[str, Manifest | None]], Mapping[str, str]] | None = None,
    ) -> None:
        """A wait for named objects. absent: late objects → what they lack that will not appear by itself."""
        self.open = dict.fromkeys(names, Progress())
        self.ended: dict[str, tuple[Manifest | None, str | None]] = {}
        self.last: dict[str, Manifest | None] = dict.fromkeys(self.open)
        self.deadline = deadline
        self.pauses = Backoff()
        self._probe = probe
        self._given_up_at: dict[str, float] = {}
        # The same times as a heap. Objects that have recovered or ended since stay in it.
        self._due: list[tuple[float, str]] = []
        self._absent = absent
        self._look_at = math.inf if absent is None else time.monotonic() + LOOK
        self._seen: Mapping[str, str] = {}

    def end_deadlocks(self) -> None:
        """Ends the wait for objects that two looks in a row have found to need the same absent object."""
        if self._absent is None or time.monotonic() < self._look_at:
            return
        before, self._seen = self._seen, self._absent({name: self.last[name] for name in self.open})
        for name, reason in self._seen.items():
            if name in self.open and before.get(name) == reason:
                self._end(name, reason)
        self._look_at = time.monotonic() + LOOK

    def observe(self, name: str, item: Manifest | None) -> None:
        self.last[name] = item
        state = self._probe(name, item)
        failed = state.failed
        if state.stuck:
            now = time.monotonic()
            if name not in self._given_up_at:
                self._given_up_at[name] = now + state.grace
                heappush(self._due, (now + state.grace, name))
            if now >= self._given_up_at[name]:
                failed = state.stuck
        else:
            self._given_up_at.pop(name, None)
        if state.done or failed:
            self._end(name, failed)
        else:
            self.open[name] = state

    @property
    def failed(self) -> dict[str, str]:
        return {name: failure for name, (_item, failure) in self.ended.items() if failure}

    def _end(self, name: str, failure: str | None) -> None:
        self.ended[name] = self.last[name], failure
        del self.open[name]
        self._given_up_at.pop(name, None)

    def end_all(self, failure_of: Callable[[str], str]) -> None:
        failures = {name: failure_of(name) for name in self.open}
        for name, failure in failures.items():
            self._end(name, failure)

    def pause(self, until: float) -> None:
        """Pauses before the next watch, so that watches that end at once do not flood the server."""
        time.sleep(min(self.pauses.next(), seconds_left(until)))

    @property
    def next_probe(self) -> float:
        """When to probe again without an event: at the deadline, or when a stuck object counts as failed."""
        while self._due and self._given_up_at.get(self._due[0][1]) != self._due[0][0]:
            heappop(self._due)
        return min(self.deadline, self._look_at, self._due[0][0] if self._due else math.inf)

    def probe_stuck(self) -> None:
        """Probes the stuck objects that now count as failed: without an event, they are as last seen."""
        while self._due and self._due[0][0] <= time.monotonic():
            at, name = heappop(self._due)
            if self._given_up_at.get(name) == at:
                self.observe(name, self.last[name])

    @property
    def over(self) -> bool:
        return not self.open or time.monotonic() >= self.deadline


def _list_and_watch(session: Session, kind: Kind, namespace: str | None, wait: _Wait, metadata_only: bool) -> None:
    """One LIST and the watches from it, until the wait is over or the watch cannot continue."""
    query = {"fieldSelector": f"metadata.name={next(iter(wait.open))}"} if len(wait.open) == 1 else {}
    items, version = session.list_to_watch(kind, namespace, metadata_only, **query)
    by_name = {item["metadata"]["name"]: item for item in items}
    for name in list(wait.open):
        wait.observe(name, by_name.get(name))
    while True:
        wait.probe_stuck()
        wait.end_deadlocks()
        if wait.over:
            return
        until = wait.next_probe
        try:
            for event in session.watch(kind, namespace, version, seconds_left(until), metadata_only, **query):
                wait.pauses = Backoff()
                item = event["object"]
                # A bookmark carries only a resourceVersion.
                version = item["metadata"].get("resourceVersion") or version
                name = item["metadata"].get("name")
                if event["type"] != "BOOKMARK" and name in wait.open:
                    wait.observe(name, None if event["type"] == "DELETED" else item)
                wait.probe_stuck()
                wait.end_deadlocks()
                if wait.over:
                    return
                if wait.next_probe < until:
                    break  # the watch would last too long for an object that is stuck now
            else:
                wait.pause(until)
        except ApiError as error:
            if error.code != 410 and error.code not in PASSING:
                raise
            wait.pause(until)
            return  # only a new list shows the missed events
        except ConnectionFailed:
            # A proxy may block only watches; the next list shows whether the server is reachable.
            wait.pause(until)
            return
