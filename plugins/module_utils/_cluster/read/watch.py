"""Waits for objects with one watch for each kind and namespace, and says what keeps those that are late."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import Any, NamedTuple

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.api.manifest import Progress
from ..._resolver.preflight.references import claim_names
from ..client.errors import ApiError, ConnectionFailed, RequestFailed, optional
from ..client.pool import Backoff, map_concurrently
from ..client.session import PASSING, Session
from .snapshot import EVENT, POD

Manifest = dict[str, Any]

_VM = "VirtualMachine"
# So many watches at the same time, each of which is a thread and a connection; further namespaces take their turns.
WATCHES = 64
# Seconds within which a controller observes an object after a write.
STALE = 5.0
# What a VM waits for, beside pods.
_KINDS = ("DataVolume", "PersistentVolumeClaim", "VirtualMachineInstance")
_LAUNCHER_LABEL = "kubevirt.io=virt-launcher"
_VM_LABEL = "vm.kubevirt.io/name"
# Phases that block nothing.
_DONE_PHASES = frozenset({"Succeeded", "Running", "Bound"})
# The number of events that a message names.
_SHOWN = 3
# The name of a VM's pod is virt-launcher-VM-SUFFIX.
_POD_PREFIX = "virt-launcher-"


class WaitResult(NamedTuple):
    """The result of the wait for an object.

    object: as last seen; None if it does not exist. failure: one line, or None on success.
    """

    object: Manifest | None
    failure: str | None


Probe = Callable[[str, "Manifest | None"], Progress]


def with_grace(state: Progress) -> Progress:
    """The state of an object whose controller may not have observed the last write: a failure may predate it."""
    return Progress(stuck=state.failed, grace=STALE) if state.failed else state


def state_until(done: Callable[[Manifest], bool], live: Manifest | None, pending: str) -> Progress:
    """The state of an object that must exist until `done` is true. pending: what it waits for."""
    if live is None:
        return Progress(failed="the object was deleted while the task waited for it")
    return Progress(done=done(live), pending=pending)


def wait_in_namespaces(
    session: Session,
    kind: Kind,
    probes: Mapping[tuple[str, str], Callable[[Manifest | None], Progress]],
    timeout: float,
) -> dict[tuple[str, str], WaitResult]:
    """Waits like `wait_for`, for objects of several namespaces. probes: (namespace, name) → probe.

    The time is for all: a namespace whose turn comes after it is read just once.
    """
    deadline = time.monotonic() + timeout
    namespaces: dict[str, dict[str, Callable[[Manifest | None], Progress]]] = {}
    for (namespace, name), probe in probes.items():
        namespaces.setdefault(namespace, {})[name] = probe

    def wait_in(namespace: str) -> dict[str, WaitResult]:
        members = namespaces[namespace]
        return wait_for(session, kind, namespace, members, lambda name, item: members[name](item), timeout, deadline)

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
) -> dict[str, WaitResult]:
    """Watches until `probe(name, object or None)` is done or failed for each name, or until the timeout.

    deadline: when the timeout ends, if it has begun before.
    A late object fails with what it waits for, its conditions and its newest events; a VM also with the DataVolumes,
    claims, VMI and pod that are not ready. metadata_only: `probe` needs only the metadata.
    """
    wait = _Wait(names, probe, time.monotonic() + timeout if deadline is None else deadline)
    try:
        while True:
            _list_and_watch(session, kind, namespace, wait, metadata_only)
            if wait.over:
                break
    except RequestFailed as error:
        failure = str(error)
        wait.end_all(lambda _name: failure)
    late = wait.open
    events = newest_events(session, namespace, late) if late and namespace else {}
    last = {name: wait.last[name] for name in late}
    blocked = blockers(session, namespace, last) if late and namespace and kind.kind == _VM else {}
    wait.end_all(lambda name: _late(timeout, late[name], last[name], blocked.get(name, []), events.get(name, [])))
    return wait.ended


class _Wait:
    """The progress of a wait.

    open: the names still pending. ended: the others. last: each object as last seen. pauses: between watches without
    events.
    """

    def __init__(self, names: Iterable[str], probe: Probe, deadline: float) -> None:
        self.open = dict.fromkeys(names, Progress())
        self.ended: dict[str, WaitResult] = {}
        self.last: dict[str, Manifest | None] = dict.fromkeys(self.open)
        self.deadline = deadline
        self.pauses = Backoff()
        self._probe = probe
        self._given_up_at: dict[str, float] = {}
        # The same as a heap, in which those remain that have recovered or ended since.
        self._due: list[tuple[float, str]] = []

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

    def _end(self, name: str, failure: str | None) -> None:
        self.ended[name] = WaitResult(self.last[name], failure)
        del self.open[name]
        self._given_up_at.pop(name, None)

    def end_all(self, why: Callable[[str], str]) -> None:
        failures = {name: why(name) for name in self.open}
        for name, failure in failures.items():
            self._end(name, failure)

    def pause(self, until: float) -> None:
        """Pauses before the next watch, so that watches that end at once do not flood the server."""
        time.sleep(max(0.0, min(self.pauses.next(), until - time.monotonic())))

    @property
    def next_probe(self) -> float:
        """When to probe again without an event: at the deadline, or when a stuck object counts as failed."""
        while self._due and self._given_up_at.get(self._due[0][1]) != self._due[0][0]:
            heappop(self._due)
        return min(self.deadline, self._due[0][0]) if self._due else self.deadline

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
        if wait.over:
            return
        until = wait.next_probe
        remaining = max(0.0, until - time.monotonic())
        try:
            for event in session.watch(kind, namespace, version, remaining, metadata_only, **query):
                wait.pauses = Backoff()
                item = event["object"]
                # A bookmark carries only a resourceVersion.
                version = item["metadata"].get("resourceVersion") or version
                name = item["metadata"].get("name")
                if event["type"] != "BOOKMARK" and name in wait.open:
                    wait.observe(name, None if event["type"] == "DELETED" else item)
                wait.probe_stuck()
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


def _late(timeout: float, state: Progress, item: Manifest | None, blocked: list[str], events: list[str]) -> str:
    parts = [f"not ready after {round(timeout, 1):g} s"]
    if state.stuck:
        parts[0] += f": {state.stuck}"
    elif state.pending:
        parts[0] += f", waiting for {state.pending}"
    parts += blocked
    conditions = [_condition(condition) for condition in ((item or {}).get("status") or {}).get("conditions") or []]
    if conditions:
        parts.append(f"conditions: {', '.join(conditions)}")
    if events:
        parts.append(f"events: {', '.join(events)}")
    return "; ".join(parts)


def _condition(condition: Manifest) -> str:
    """`Ready=False (VMINotExists: VMI does not exist)`."""
    why = ": ".join(str(condition[name]) for name in ("reason", "message") if condition.get(name))
    return f"{condition['type']}={condition['status']}" + (f" ({' '.join(why.split())})" if why else "")


def blockers(session: Session, namespace: str, vms: Mapping[str, Manifest | None]) -> dict[str, list[str]]:
    """One line for each DataVolume, claim, VMI and pod that is not ready, by VM name.

    The number of LISTs does not grow with the number of VMs. Kinds that the user may not list are left out.
    """
    live = {kind: _listed(session, BY_NAME[kind], namespace) for kind in _KINDS}
    pods: dict[str, list[Manifest]] = {}
    for pod in _listed(session, POD, namespace, labelSelector=_LAUNCHER_LABEL).values():
        pods.setdefault((pod["metadata"].get("labels") or {}).get(_VM_LABEL, ""), []).append(pod)
    return {name: list(_blockers_of(name, vm, live, pods.get(name, ()))) for name, vm in vms.items() if vm is not None}


def _blockers_of(
    name: str, vm: Manifest, live: Mapping[str, Mapping[str, Manifest]], pods: Iterable[Manifest]
) -> Iterator[str]:
    for claim in claim_names(vm):
        volume = live["DataVolume"].get(claim)
        if volume is not None:
            yield from _not_ready("DataVolume", volume, ("Running", "Bound"))
        elif claim in live["PersistentVolumeClaim"]:
            yield from _not_ready("PersistentVolumeClaim", live["PersistentVolumeClaim"][claim], ())
    if name in live["VirtualMachineInstance"]:
        yield from _not_ready("VirtualMachineInstance", live["VirtualMachineInstance"][name], ("Synchronized", "Ready"))
    for pod in pods:
        yield from _not_ready("pod", pod, ("PodScheduled",))


def _not_ready(kind: str, item: Manifest, conditions: tuple[str, ...]) -> Iterator[str]:
    """`DataVolume web-boot: ImportInProgress 35.2%: why`; nothing if the object is ready."""
    status = item.get("status") or {}
    phase = str(status.get("phase") or "without a phase")
    if phase in _DONE_PHASES:
        return
    progress = str(status.get("progress") or "")
    progress_text = phase if progress in ("", "N/A") else f"{phase} {progress}"
    reason = _container(status) or _false_condition(status, conditions)
    yield f"{kind} {item['metadata']['name']}: {progress_text}" + (f": {reason}" if reason else "")


def _false_condition(status: Manifest, names: tuple[str, ...]) -> str:
    """The message of the first of these conditions that is false."""
    by_type = {condition.get("type"): condition for condition in status.get("conditions") or []}
    for name in names:
        condition = by_type.get(name) or {}
        if condition.get("status") == "False" and (condition.get("message") or condition.get("reason")):
            return " ".join(str(condition.get("message") or condition["reason"]).split())
    return ""


def _container(status: Manifest) -> str:
    """Why a container of a pod has not started."""
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waits = (container.get("state") or {}).get("waiting") or {}
        if waits.get("reason"):
            text = f"{waits['reason']}: {waits['message']}" if waits.get("message") else waits["reason"]
            return " ".join(str(text).split())
    return ""


def _listed(session: Session, kind: Kind, namespace: str, **query: str) -> dict[str, Manifest]:
    return {item["metadata"]["name"]: item for item in optional(lambda: session.list(kind, namespace, **query), [])}


def newest_events(session: Session, namespace: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The newest events about these VMs and their VMIs, pods, DataVolumes and claims, the newest last.

    One LIST. Empty if the user may not list events or the request fails.
    """
    by_name: dict[str, list[Manifest]] = {name: [] for name in names}
    for event in sorted(optional(lambda: session.list(EVENT, namespace), []), key=_last_time):
        for name in _names_of(event):
            if name in by_name:
                by_name[name].append(event)
    return {name: [_event_text(event) for event in about[-_SHOWN:]] for name, about in by_name.items() if about}


def _names_of(event: Manifest) -> Iterator[str]:
    """The names that the VM of an event may have."""
    about = event.get("involvedObject") or {}
    name = str(about.get("name", ""))
    yield name
    if about.get("kind") == "Pod" and name.startswith(_POD_PREFIX):
        yield name[len(_POD_PREFIX) :].rpartition("-")[0]


def _last_time(event: Manifest) -> str:
    series = event.get("series") or {}
    stamps = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((str(stamp) for stamp in stamps if stamp), str(event["metadata"].get("creationTimestamp", "")))


def _event_text(event: Manifest) -> str:
    return f"{event.get('reason', '')}: {' '.join(str(event.get('message', '')).split())}"
