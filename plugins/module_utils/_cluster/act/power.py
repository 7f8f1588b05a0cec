"""Changes the power state of VMs: one LIST of all, the requests that are needed, one watch for each namespace.

A request whose outcome is unknown is sent again only after a read has shown that it had no effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.declare import power as rules
from ..._resolver.declare.power import Wanted
from ..._resolver.kubevirt.vmi.readiness import same_status
from ..client.errors import ApiError, ConnectionFailed
from ..client.session import Session
from ..read.snapshot import Key, Unreadable, read
from ..read.watch import State, doubted, wait_in_namespaces
from .engine import Job, carry_out, send
from .settings import Settings

Manifest = dict[str, Any]

_VM = BY_NAME["VirtualMachine"]
_VMI = BY_NAME["VirtualMachineInstance"]
_IN_FLIGHT = "in-flight migration detected"


class Entry(NamedTuple):
    """A VM and its desired state. guest: the UID of the VMI to restart; None for any. A newer VMI is not restarted."""

    namespace: str
    name: str
    wanted: Wanted
    guest: str | None = None

    @property
    def label(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(eq=False)
class Result:
    """The outcome for one entry. vm, instance: as last seen. found, before: the VM and the VMI before the task.

    verb: the request that was sent (check mode: would be sent), "" for none. failed: the reason, on one line.
    """

    entry: Entry
    vm: Manifest | None = None
    instance: Manifest | None = None
    found: Manifest | None = None
    before: Manifest | None = None
    verb: str = ""
    failed: str | None = None

    @property
    def changed(self) -> bool:
        return bool(self.verb)


def selected(session: Session, namespace: str | None, selector: str) -> list[tuple[str, str]]:
    """Namespace and name of the VMs that match a label selector, sorted. Raises ApiError or ConnectionFailed."""
    items, _version = session.list(_VM, namespace, labelSelector=selector)
    return sorted((item["metadata"]["namespace"], item["metadata"]["name"]) for item in items)


def power(session: Session, entries: list[Entry], settings: Settings) -> list[Result]:
    """Takes VMs to their desired states; results in the order of the entries.

    An entry that fails does not stop the others, unless fail_fast is set.
    """
    results = [Result(entry) for entry in entries]
    _look(session, results)
    for result in results:
        if result.failed is None:
            result.found, result.before = result.vm, result.instance
            if result.vm is None:
                result.failed = "the virtual machine does not exist"
    _Round(session, settings).run([result for result in results if result.failed is None])
    if not settings.check_mode:
        _look(session, [result for result in results if result.changed or _moved(result)])
    return results


def _look(session: Session, results: list[Result]) -> None:
    """Reads the VMs and VMIs: one LIST of each kind for a namespace."""
    namespaces: dict[str, list[Result]] = {}
    for result in results:
        namespaces.setdefault(result.entry.namespace, []).append(result)
    for namespace, members in namespaces.items():
        names = {result.entry.name for result in members}
        try:
            found = read(session, [Key(kind.kind, namespace, name) for kind in (_VM, _VMI) for name in names])
        except Unreadable as error:
            for result in members:
                result.failed = result.failed or str(error)
            continue
        for result in members:
            result.vm = found.get(Key(_VM.kind, namespace, result.entry.name))
            result.instance = found.get(Key(_VMI.kind, namespace, result.entry.name))


def _is_migrating(result: Result, error: ApiError | ConnectionFailed) -> bool:
    """Whether KubeVirt rejects a migration because another is pending. The task then waits for that migration."""
    return result.entry.wanted.state == rules.MIGRATED and _IN_FLIGHT in str(error)


def _is_taken_up(session: Session, result: Result) -> bool:
    """Whether a VM is, or will be, in the wanted state, whoever asked for it."""
    now = Result(result.entry)
    _look(session, [now])
    if now.failed or now.vm is None:
        return False
    restarted = result.entry.wanted.state == rules.RESTARTED and (
        uid_of(now.instance) != uid_of(result.instance) or (_ends(now.instance) and not _ends(result.instance))
    )
    return restarted or not rules.decide(result.entry.wanted, now.vm, now.instance).needed


class _Round:
    """The requests and waits of one task."""

    def __init__(self, session: Session, settings: Settings) -> None:
        self._session = session
        self._settings = settings
        # Seconds that are left for waits. The time of the requests does not count: thousands of them take minutes.
        self._left = settings.wait_timeout

    def run(self, results: list[Result]) -> None:
        early = self._decide(results)
        if early:
            self._wait(_VM, list(early), lambda result: lambda vm: State(*rules.reached(Wanted(early[result]), vm)))
            _look(self._session, list(early))
            for result in self._decide([result for result in early if result.failed is None]):
                result.failed = "another client changed the VM at the same time; run the task again"
        if self._settings.wait and not self._settings.check_mode:
            self._await_reached([result for result in results if result.failed is None])

    def _decide(self, results: list[Result]) -> dict[Result, str]:
        """Sends the requests that are needed. Returns the results for which it is too early, with the state to wait
        for.
        """
        due: list[Result] = []
        early: dict[Result, str] = {}
        for result in results:
            if result.vm is None:
                result.failed = "the VM was deleted"
                continue
            if _is_replaced(result) or _is_gone(result):
                continue
            decision = rules.decide(result.entry.wanted, result.vm, result.instance)
            result.failed = decision.refusal
            if decision.needed and not decision.first:
                due.append(result)
            elif decision.needed and self._settings.check_mode:
                # KubeVirt would reject the dry run because it is too early.
                result.verb = rules.request(result.entry.wanted).subresource
            elif decision.needed and self._settings.wait:
                early[result] = decision.first
            elif decision.needed:
                doing = "starting" if decision.first == rules.STARTED else "stopping"
                result.failed = f"the VM is still {doing}; set wait, or run the task again later"
        kinds = [rules.request(result.entry.wanted).kind for result in due]
        jobs = [Job(result, partial(self._send, result), "PUT", kind) for result, kind in zip(due, kinds)]
        carry_out(jobs, self._settings, "virtual machine")
        return early

    def _send(self, result: Result) -> None:
        entry, check_mode = result.entry, self._settings.check_mode
        request = rules.request(entry.wanted)
        sent = True
        if request.rehearsable or not check_mode:
            write = request.write(entry.namespace, entry.name, check_mode)
            taken_up = None if check_mode else partial(_is_taken_up, self._session, result)
            try:
                sent = send(self._session, write, taken_up)
            except (ApiError, ConnectionFailed) as error:
                if _is_migrating(result, error):
                    return
                raise
        result.verb = request.subresource if sent else ""

    def _await_reached(self, results: list[Result]) -> None:
        migrated = [result for result in results if result.entry.wanted.state == rules.MIGRATED]
        self._wait(_VMI, migrated, lambda result: lambda instance: State(*rules.migrated(result.before, instance)))
        others = [result for result in results if result not in migrated]
        open_ = [result for result in others if result.changed or not _is_over(result)]
        self._wait(_VM, open_, lambda result: lambda vm: _reached(result, vm))
        # The status of a VM may be that of its old guest.
        ended = [result for result in open_ if result.failed is None and result.vm is not None]
        self._wait(_VMI, [one for one in ended if _has_end(one)], lambda result: lambda vmi: _end(result, vmi))
        again = [one for one in ended if one.failed is None and one.entry.wanted.state == rules.RESTARTED]
        self._wait(_VM, again, lambda result: lambda vm: _reached(result, vm))

    def _wait(
        self,
        kind: Kind,
        results: list[Result],
        look: Callable[[Result], Callable[[Manifest | None], State]],
    ) -> None:
        """Watches the kind in each namespace. Failures and the objects last seen go into the results."""
        members = {(result.entry.namespace, result.entry.name): result for result in results}
        looks = {place: look(result) for place, result in members.items()}
        began = time.monotonic()
        for place, waited in wait_in_namespaces(self._session, kind, looks, self._left).items():
            members[place].failed = waited.failure
            if kind is _VM:
                members[place].vm = waited.object
            else:
                members[place].instance = waited.object
        self._left = max(0.0, self._left - (time.monotonic() - began))


def _reached(result: Result, vm: Manifest | None) -> State:
    state = State(*rules.reached(result.entry.wanted, vm))
    return doubted(state) if result.changed and vm is not None and same_status(vm, result.found or {}) else state


def _has_end(result: Result) -> bool:
    """Whether the wanted state ends a guest."""
    return result.entry.wanted.state in (rules.RESTARTED, rules.STOPPED)


def _end(result: Result, instance: Manifest | None) -> State:
    """Whether the guest that the wanted state ends is gone."""
    if result.entry.wanted.state == rules.STOPPED:
        return State(rules.gone(instance), pending="the old VMI to disappear")
    return State(instance is not None and uid_of(instance) != _old(result), pending="the new VMI")


def _is_over(result: Result) -> bool:
    """Whether a VM to which no request was sent is, as first seen, in the wanted state."""
    reached = _reached(result, result.vm).done and (not _has_end(result) or _end(result, result.instance).done)
    return reached or _is_gone(result)


def _old(result: Result) -> str:
    """The UID of the VMI that a restart ends."""
    return uid_of(result.before) if result.entry.guest is None else result.entry.guest


def _is_replaced(result: Result) -> bool:
    """Whether the VMI to restart has been replaced since."""
    return result.entry.guest is not None and uid_of(result.instance) not in ("", result.entry.guest)


def _is_gone(result: Result) -> bool:
    """Whether the VMI to restart has ended, and nothing starts another."""
    vm = result.vm
    ended = result.entry.guest is not None and result.instance is None and vm is not None
    return ended and rules.decide(result.entry.wanted, vm or {}, None).needed


def _moved(result: Result) -> bool:
    """Whether the VM changed during the wait."""
    versions = [(vm or {"metadata": {}})["metadata"].get("resourceVersion") for vm in (result.found, result.vm)]
    return bool(versions[0] != versions[1])


def _ends(instance: Manifest | None) -> bool:
    return instance is not None and "deletionTimestamp" in instance["metadata"]


def uid_of(manifest: Manifest | None) -> str:
    """The UID of an object, "" if there is none."""
    return str(manifest["metadata"]["uid"]) if manifest is not None else ""
