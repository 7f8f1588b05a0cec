"""Gives VMs other revisions, and brings these to their guests."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from ..._resolver.api import quantity
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import Role
from ..._resolver.declare import power
from ..._resolver.declare.readiness import RUNNING, has_guest, restart_required
from ..._resolver.instancetype.vmi.guest import guest
from ..._resolver.refresh.change import Change
from ..client.backoff import Backoff
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.revisions import Inspected
from ..read.watch import State, Waited, once, wait_for, wait_in_namespaces
from .power import Entry, Result, send

__all__ = ["LIVE", "NEXT_START", "NOTHING", "RESTART", "Changed", "change"]

Manifest = dict[str, Any]

_VM = BY_NAME["VirtualMachine"]
_VMI = BY_NAME["VirtualMachineInstance"]
_MERGE = "application/merge-patch+json"

# How a guest gets what was changed.
NOTHING: Final = "nothing"
LIVE: Final = "live update"
RESTART: Final = "restart"
NEXT_START: Final = "next start"


@dataclass
class Changed:
    """What becomes of one VM. change: what is decided. restart: whether it is to be restarted, or was. may_restart:
    whether it may be, should the cluster ask for it. written: whether anything was. failed: why, on one line.
    method: how the reference was released. revisions: what it refers to afterwards, by matcher."""

    before: Inspected
    change: Change
    restart: bool = False
    may_restart: bool = False
    written: bool = False
    failed: str | None = None
    method: str = ""
    revisions: dict[str, str] = field(default_factory=dict)
    vm: Manifest | None = None

    @property
    def due(self) -> bool:
        """Whether there is anything to do."""
        return (self.change.due or self.restart) and self.failed is None

    @property
    def changed(self) -> bool:
        """Whether anything was done or, in check mode, would be; also where it failed on the way."""
        return self.written or self.due

    @property
    def takes_effect(self) -> str:
        """NOTHING, LIVE, RESTART or NEXT_START: how the guest gets the change, or has got it."""
        if self.restart:
            return RESTART
        if not self.change.due or self.change.effect is None or not self.change.effect.changes:
            return NOTHING
        asked = self.vm is not None and restart_required(self.vm) is not None
        return LIVE if self.may_be_live and not asked else NEXT_START

    @property
    def may_be_live(self) -> bool:
        """Whether there is a guest that is likely to take the change as it runs; the cluster decides."""
        effect = self.change.effect
        return effect is not None and bool(effect.changes) and effect.live and has_guest(self.before.vm)


def change(
    session: Session,
    seen: list[Inspected],
    decide: Callable[[Inspected], Change],
    restart: str,
    check_mode: bool,
    seconds: float,
    concurrency: int,
) -> list[Changed]:
    """Gives VMs the revisions that `decide` says; restart: never, if_required or always.

    What KubeVirt would refuse afterwards is decided as a refusal: such a VM is left as it is and fails. A VM that was
    changed by a run which was cut off before its restart is restarted by the next one.
    """
    results = [_planned(session, one, decide(one), restart) for one in seen]
    if not check_mode:
        _Round(session, seconds, concurrency).run([result for result in results if result.due])
    return results


def _planned(session: Session, seen: Inspected, decided: Change, restart: str) -> Changed:
    result = Changed(seen, decided, vm=seen.vm)
    if decided.refusal is not None:
        result.failed = f"{decided.refusal}; nothing was changed"
    elif restart != "never" and has_guest(seen.vm):
        live = decided.effect is None or decided.effect.live
        needed = decided.due and (restart == "always" or not live)
        result.restart = needed or seen.restart_required
        result.may_restart = True
    return result


class _Round:
    """The writes and the waits of one task. Guests are restarted once all VMs have their revisions."""

    def __init__(self, session: Session, seconds: float, concurrency: int) -> None:
        self._session = session
        self._seconds = seconds
        self._concurrency = concurrency

    def run(self, results: list[Changed]) -> None:
        written = [result for result in results if result.change.due]
        self._each(written, partial(_write, self._session))
        self._await_revisions([result for result in written if result.failed is None])
        guests = [r for r in results if r.failed is None and (r.restart or (r.change.due and r.may_be_live))]
        self._each(guests, lambda result: _bring_to_guest(self._session, result, time.monotonic() + self._seconds))

    def _each(self, results: list[Changed], work: Callable[[Changed], None]) -> None:
        def guarded(result: Changed) -> None:
            try:
                work(result)
            except (ApiError, ConnectionFailed) as error:
                result.failed = explain(error, "PATCH", _VM)

        with ThreadPoolExecutor(max_workers=max(1, self._concurrency)) as pool:
            list(pool.map(guarded, results))

    def _await_revisions(self, results: list[Changed]) -> None:
        """One watch for each namespace, until virt-controller has captured what the VMs are to refer to."""

        def look(result: Changed) -> Callable[[Manifest | None], State]:
            return lambda live: once(partial(_arrived, result=result), live, "its revision to be captured")

        members = {(result.before.namespace, result.before.name): result for result in results}
        looks = {place: look(result) for place, result in members.items()}
        for place, waited in wait_in_namespaces(self._session, _VM, looks, self._seconds).items():
            _take_revisions(members[place], waited)


def _write(session: Session, result: Changed) -> None:
    seen, decided = result.before, result.change
    if decided.spec is not None:
        session.request("PATCH", _VM.path(seen.namespace, seen.name), _as(session), {"spec": decided.spec}, _MERGE)
        result.written = True
    if decided.release:
        result.method = _release(session, seen.vm, _to_release(decided))
        result.written = True


def _take_revisions(result: Changed, waited: Waited) -> None:
    if waited.failure is not None or waited.object is None:
        result.failed = waited.failure or "it is gone"
        return
    result.vm = waited.object
    result.revisions = {
        role.matcher: _revision(role, waited.object) for role in result.change.roles if role.matcher_of(waited.object)
    }


def _bring_to_guest(session: Session, result: Changed, deadline: float) -> None:
    seen = result.before
    if not result.restart:
        result.vm = _await_guest(session, result, deadline)
        result.restart = result.may_restart and restart_required(result.vm) is not None
    if result.restart:
        result.restart = _restart(session, seen, deadline)
        result.written = result.written or result.restart
        if result.restart:
            result.vm = _await(session, seen, _runs_as_declared, "it to run again", deadline)


def _await_guest(session: Session, result: Changed, deadline: float) -> Manifest:
    """The VM when its guest has taken the change, or when the cluster asks for a restart instead.

    What the guest was started with and whether the cluster changes running guests at all is virt-controller's to say.
    """
    seen, effect = result.before, result.change.effect
    wanted = _size(effect.guest_after) if effect is not None else {}
    pauses = Backoff()
    while True:
        vm, instance = (session.get(kind, seen.namespace, seen.name) for kind in (_VM, _VMI))
        if vm is None:
            raise ConnectionFailed("it was deleted while waiting for its guest")
        if instance is None or _size(guest(instance["spec"])) == wanted or restart_required(vm) is not None:
            return vm
        if not pauses.pause(max(0.0, deadline - time.monotonic()) + pauses.seconds):
            raise ConnectionFailed("its guest has not taken the change yet, and the cluster asks for no restart")


def _size(figures: Manifest) -> Manifest:
    """What can change in a running guest."""
    memory = figures.get("memory")
    return {"sockets": figures.get("sockets"), "memory": quantity.parse(memory).value if memory else None}


def _as(session: Session) -> dict[str, str]:
    # What is set here is no conflict with a play that declares the VM.
    return {"fieldManager": session.field_manager}


def _to_release(decided: Change) -> list[Role]:
    return [role for role in decided.roles if role.matcher not in (decided.spec or {})]


def _release(session: Session, vm: Manifest, roles: list[Role]) -> str:
    """Makes virt-controller capture anew; by the status where permitted, else by spelling the kind another way.

    Both were observed to work from KubeVirt 1.5 on; clearing revisionName, as documented, does nothing there.
    """
    path = _VM.path(vm["metadata"]["namespace"], vm["metadata"]["name"])
    references = {role.reference: {"controllerRevisionRef": None} for role in roles}
    try:
        session.request("PATCH", f"{path}/status", body={"status": references}, content_type=_MERGE)
        return "status"
    except ApiError as error:
        if error.code != 403:
            raise
        denied = error
    spelled = {role.matcher: {"kind": _other_spelling(role, role.matcher_of(vm) or {})} for role in roles}
    try:
        session.request("PATCH", path, _as(session), {"spec": spelled}, _MERGE)
        return "kind"
    except ApiError as error:
        if error.code != 403:
            raise
        # Either right would do; the message names the one tried last, so add the other.
        error.message = f"{error.message}. Patching virtualmachines/status would do as well ({denied.message})"
        raise


def _other_spelling(role: Role, matcher: Manifest) -> str:
    kind = role.kind_of(matcher) or role.cluster_kind
    return kind if matcher.get("kind") != kind else kind.lower()


def _arrived(live: Manifest, result: Changed) -> bool:
    """Whether virt-controller has done its part."""
    expected = result.change.expected or {}
    for role in result.change.roles:
        if not role.matcher_of(live):
            continue  # the cluster's reference policy has put what it stands for in its place
        now = _revision(role, live)
        if role.matcher in expected:
            if now != expected[role.matcher]:
                return False
        # A reference that was taken out of the status is there again only once it is captured anew.
        elif now == "" or (result.method != "status" and now == _revision(role, result.before.vm)):
            return False
    return True


def _revision(role: Role, vm: Manifest) -> str:
    """The captured revision: of the status, or of the spec as up to KubeVirt 1.4."""
    reference = role.reference_of(vm)
    if reference:
        return str((reference.get("controllerRevisionRef") or {}).get("name") or "")
    return str((role.matcher_of(vm) or {}).get("revisionName") or "")


def _await(
    session: Session, seen: Inspected, done: Callable[[Manifest], bool], pending: str, deadline: float
) -> Manifest:
    def look(_name: str, live: Manifest | None) -> State:
        return once(done, live, pending)

    seconds = max(0.0, deadline - time.monotonic())
    waited = wait_for(session, _VM, seen.namespace, [seen.name], look, seconds)[seen.name]
    if waited.failure is not None or waited.object is None:
        raise ConnectionFailed(waited.failure or "it is gone")
    return waited.object


def _restart(session: Session, seen: Inspected, deadline: float) -> bool:
    """Whether there was a guest to restart; returns when it runs again."""
    vm, instance = (session.get(kind, seen.namespace, seen.name) for kind in (_VM, _VMI))
    if vm is None or instance is None:
        return False
    old_uid = instance["metadata"]["uid"]
    # One that an earlier run asked for, and that has not begun, would make the API refuse another.
    if power.decide(power.Wanted(power.RESTARTED), vm, instance).needed:
        entry = Entry(seen.namespace, seen.name, power.Wanted(power.RESTARTED))
        send(session, Result(entry, vm=vm, instance=instance))

    def look(_name: str, live: Manifest | None) -> State:
        if live is None or live["metadata"]["uid"] == old_uid:
            return State(pending="the VMI to start again")
        phase = (live.get("status") or {}).get("phase", "")
        if phase == "Failed":
            return State(failed="the VMI failed after the restart")
        return State(done=phase == "Running", pending=f"the VMI to run (now {phase or 'new'})")

    seconds = max(0.0, deadline - time.monotonic())
    waited = wait_for(session, _VMI, seen.namespace, [seen.name], look, seconds)[seen.name]
    if waited.failure is not None:
        raise ConnectionFailed(waited.failure)
    return True


def _runs_as_declared(vm: Manifest) -> bool:
    """Whether virt-controller has seen that the new guest runs, and that nothing is left to restart it for."""
    return (vm.get("status") or {}).get("printableStatus") in RUNNING and restart_required(vm) is None
