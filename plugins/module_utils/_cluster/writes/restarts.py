"""Brings the guests of VMs up to date: waits for KubeVirt and restarts guests, none twice for the same reason.

KubeVirt decides what a guest takes without a restart, so a task waits until virt-controller has compared the VM with
its guest. It restarts only a guest that lacks something, because the condition RestartRequired may outlive the restart
that it asks for. If a restart would not clear the condition, the task bumps the generation of the VM first (see
`refresh.recapture`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from ..._resolver.api.errors import KubeVirtError, value_or_none
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, Progress, namespaced_name
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.write import merge_patch
from ..._resolver.declare.power import RESTARTED
from ..._resolver.guest.effect import LIVE, NOTHING, RESTART, GuestEffect, guest_effect
from ..._resolver.guest.outstanding import incomplete_update
from ..._resolver.kubevirt.vm.readiness import may_lack_changes, observed, restart_required, stale_restart_warning
from ..._resolver.kubevirt.vm.start import start_revision_name
from ..._resolver.preflight.object_keys import keys_for_guest
from ..._resolver.refresh import recapture
from ..client.concurrency import Backoff, seconds_left
from ..client.errors import ApiError, RequestFailed
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..reads.snapshot import read
from ..reads.watch import state_until, wait_in_namespaces
from ..task import Task
from .engine import WriteOutcome, run_writes, send
from .power import PowerOutcome, power, uid_of

_VM = KINDS["VirtualMachine"]
_VMI = KINDS["VirtualMachineInstance"]
_REVISION = KINDS["ControllerRevision"]
_DENIED: Final = "cannot reset the condition RestartRequired, which may remain after the restart: {}"
_PENDING: Final = "the guest does not have the change yet, and KubeVirt does not ask for a restart"
_WAITS: Final = "the guest does not have the change yet, because KubeVirt has not completed an earlier live update ({})"
_NOT_AGAIN: Final = "not restarted because KubeVirt could not start the VM again: {}"
_DELETED: Final = "the VM was deleted while the task waited for its guest"
_NOT_ASKED: Final = "KubeVirt does not ask for a restart"
# A busy virt-controller compares a VM with its guest within this many seconds after it has captured a revision.
_COMPARED: Final = 30.0


@dataclass(eq=False)
class GuestUpdate(PowerOutcome):
    """A VM whose guest may lack changes, and what becomes of the guest.

    may_restart: whether the task may restart the guest. expects: what KubeVirt does about the change, as foreseen:
    NOTHING; LIVE, if it changes the running guest; RESTART, if it asks for a restart.
    effect: what the guest lacks; None before `compare_guests`.
    """

    may_restart: bool = False
    expects: str = NOTHING
    effect: GuestEffect | None = None

    @classmethod
    def of(cls, vm: Manifest, may_restart: bool, expects: str = NOTHING) -> GuestUpdate:
        return cls(*namespaced_name(vm), RESTARTED, vm=vm, may_restart=may_restart, expects=expects)

    @property
    def live(self) -> Manifest:
        """The VM as last seen."""
        return self.vm or {}

    @property
    def lacks_update(self) -> bool:
        """Whether KubeVirt has neither changed the guest as foreseen nor asked for a restart."""
        if self.expects != LIVE or self.vmi is None or restart_required(self.live) is not None:
            return False
        return not observed(self.live) or (self.effect is not None and bool(self.effect.outstanding))

    @property
    def needs_restart(self) -> bool:
        """Whether the guest lacks what only a restart gives it."""
        effect = self.effect
        return effect is not None and (effect.needs == RESTART or (self.expects == LIVE and bool(effect.outstanding)))


def await_controller(session: Session, updates: Collection[GuestUpdate], deadline: float) -> None:
    """Waits until virt-controller has compared the VMs with their guests: one watch for each namespace.

    After a new capture, KubeVirt reports the generation as observed before it has compared the VM with its guest,
    so the task also waits for an expected condition. One that does not appear for long is not coming.
    """
    members = {(update.namespace, update.name): update for update in updates}

    def probe(update: GuestUpdate, live: Manifest | None) -> Progress:
        state = state_until(observed, live, "virt-controller to look at the change")
        undecided = state.done and update.expects == RESTART and restart_required(live or {}) is None
        return Progress(stuck=_NOT_ASKED, grace=_COMPARED) if undecided else state

    probes = {key: partial(probe, update) for key, update in members.items()}
    for key, (live, failure) in wait_in_namespaces(session, _VM, probes, seconds_left(deadline)).items():
        update = members[key]
        update.vm = live or update.vm
        # The wait for live updates goes on where this one ends.
        passing = _NOT_ASKED in (failure or "") or (update.expects == LIVE and live is not None)
        update.failed = None if passing else failure


def compare_guests(lookup: ClusterLookup, updates: Collection[GuestUpdate]) -> None:
    """Reads the guests, and compares them with their VMs. Raises RequestFailed."""
    vmis, cluster = read(lookup.session, [_key(_VMI, update) for update in updates]), lookup.cluster
    for update in updates:
        update.vmi = vmis.get(_key(_VMI, update))
    lookup.gather(
        key
        for update in updates
        if update.vmi is not None
        for key in keys_for_guest(update.live, update.vmi, cluster.release)
    )
    for update in updates:
        vm, vmi = update.live, update.vmi
        update.effect = GuestEffect(NOTHING) if vmi is None else guest_effect(vm, vm, vmi, cluster)


def await_live_updates(lookup: ClusterLookup, updates: Collection[GuestUpdate], deadline: float) -> None:
    """Waits until KubeVirt has changed the guests as foreseen, or asks for a restart.

    A guest that does not get the change in time is a failure if the task may restart it, else a warning. Raises
    RequestFailed.
    """
    pauses = Backoff()
    waiting = [update for update in updates if update.lacks_update]
    while waiting:
        earlier = {
            update: incomplete_update(update.vmi or {}, (update.effect or _NONE).outstanding) for update in waiting
        }
        # Without a permission to restart, KubeVirt decides when a guest gets what an earlier update keeps back.
        over = [update for update in waiting if earlier[update] is not None and not update.may_restart]
        if len(over) < len(waiting) and not pauses.pause(seconds_left(deadline) + pauses.seconds):
            over = waiting
        for update in over:
            reason = earlier[update]
            text = _PENDING if reason is None else _WAITS.format(reason)
            if update.may_restart:
                update.failed = text
            else:
                update.warn(text)
        waiting = [update for update in waiting if update not in over]
        vms = read(lookup.session, [_key(_VM, update) for update in waiting])
        for update in waiting:
            live = vms.get(_key(_VM, update))
            update.failed = _DELETED if live is None else None
            update.vm = live or update.vm
        compare_guests(lookup, waiting)
        waiting = [update for update in waiting if update.lacks_update and update.failed is None]


def restart(
    lookup: ClusterLookup, updates: Sequence[GuestUpdate], concurrency: int, seconds: float, at_once: int = 0
) -> None:
    """Restarts guests, each once at most, and waits until they run again.

    A VM that KubeVirt could not start again keeps its guest, which is a failure. seconds: the wait for all that
    restart together. at_once: how many do; 0 for all.
    """
    for update in updates:
        # A newer guest is not restarted.
        update.guest = uid_of(update.vmi)
        refusal = _refusal(lookup, update)
        if refusal is not None:
            update.failed = _NOT_AGAIN.format(refusal)
    due = [update for update in updates if update.failed is None]
    task = Task(wait=True, wait_timeout=seconds, concurrency=concurrency)
    size = at_once or len(due) or 1
    for group in (due[first : first + size] for first in range(0, len(due), size)):
        run_writes(group, lambda update: bump_if_unclean(lookup, update.live, update), task)
        power(lookup.session, [update for update in group if update.failed is None], task)


def _refusal(lookup: ClusterLookup, update: GuestUpdate) -> str | None:
    """Why KubeVirt could not start the VM again; None if the user may not read what decides."""
    if update.effect is None or update.effect.refusal is None:
        return None
    try:
        for needed in keys_for_guest(update.live, update.vmi, lookup.cluster.release):
            lookup.get(*needed.key)
    except KubeVirtError as error:
        if error.code == 403:
            return None
    return update.effect.refusal


def bump_if_unclean(lookup: ClusterLookup, vm: Manifest, outcome: WriteOutcome) -> bool:
    """Bumps the VM's generation if a restart would not clear its condition RestartRequired. False if it cannot."""
    revision = _REVISION.kind, vm["metadata"]["namespace"], start_revision_name(vm)
    unclean = recapture.keeps_restart_required(vm, value_or_none(lookup.get, *revision))
    return not unclean or bump_generation(lookup.session, vm, outcome)


_NONE: Final = GuestEffect(NOTHING)


def bump_generation(session: Session, vm: Manifest, outcome: WriteOutcome) -> bool:
    """Bumps the VM's generation without changing its spec. False if the user may not patch the VM.

    That is a warning only, because the condition RestartRequired harms no guest. Raises RequestFailed
    for all else.
    """
    metadata = vm["metadata"]
    try:
        for body in recapture.bump_patches(vm):
            path = _VM.path(metadata["namespace"], metadata["name"])
            send(session, merge_patch(path, body, fieldManager=session.field_manager))
    except ApiError as error:
        if error.code != 403:
            raise
        outcome.warn(_DENIED.format(str(error)))
        return False
    outcome.written = True
    return True


def warn_of_condition(outcome: WriteOutcome, vm: Manifest) -> None:
    """Warns of a condition RestartRequired that remains although the guest has everything."""
    if restart_required(vm) is not None:
        outcome.warn(stale_restart_warning(vm))


def pending_effects(session: Session, vms: list[Manifest], *, unrequested: bool = True) -> list[GuestEffect | None]:
    """The effects of earlier changes that have not reached the guests of VMs, in order.

    None stands for a VM whose status shows that its guest is current (see `may_lack_changes`), and for a VM whose VMI
    cannot be read. unrequested: look also for changes for which KubeVirt does not ask for a restart.
    """
    updates = [
        GuestUpdate.of(vm, may_restart=False) if vm and may_lack_changes(vm, unrequested) else None for vm in vms
    ]
    candidates = [update for update in updates if update is not None]
    try:
        if candidates:
            compare_guests(ClusterLookup(session), candidates)
    except RequestFailed:
        return [None for _vm in vms]
    return [update.effect if update is not None and update.vmi is not None else None for update in updates]


def _key(kind: Kind, update: GuestUpdate) -> ObjectKey:
    return ObjectKey(kind.kind, update.namespace, update.name)
