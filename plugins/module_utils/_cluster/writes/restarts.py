"""Decides whether and when guests are restarted, and restarts them: no guest twice for the same reason.

`DeclaredRestarts` is for VMs that a task has declared, `RevisionRestarts` for VMs that got other revisions. Both wait
until virt-controller has compared the VM with its guest, because KubeVirt decides what a guest takes without a restart.

KubeVirt's condition RestartRequired may outlive the restart that it asks for. If the guest already has everything that
the VM declares, the task does not restart it and warns about the condition. If a restart would not clear the condition,
the task bumps the VM's generation first (see `refresh.recapture`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Final

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.write import merge_patch
from ..._resolver.declare import plan
from ..._resolver.declare.power import RESTARTED, PowerRequest
from ..._resolver.guest.effect import NOTHING, RESTART, UNKNOWN, GuestEffect, guest_effect
from ..._resolver.guest.outstanding import under_way
from ..._resolver.kubevirt.config.cluster import Cluster
from ..._resolver.kubevirt.find.lookup import Lookup
from ..._resolver.kubevirt.vm.readiness import (
    cannot_start,
    has_guest,
    may_lack_changes,
    observed,
    restart_required,
    stale_restart_warning,
)
from ..._resolver.kubevirt.vm.start import start_revision_name
from ..._resolver.preflight.object_keys import keys_for_guest
from ..._resolver.refresh import recapture
from ..client.errors import ApiError, ConnectionFailed, RequestFailed
from ..client.pool import Backoff, map_concurrently
from ..client.session import Session
from ..reads.kubevirt import kubevirt
from ..reads.lookup import ClusterLookup
from ..reads.snapshot import read
from ..reads.watch import state_until, wait_in_namespaces
from .engine import WriteOutcome, WriteSettings, run_writes, send
from .kind_handler import DeclareOutcome
from .power import PowerOutcome, power, uid_of
from .revision_outcome import RevisionOutcome

_VM = KINDS["VirtualMachine"]
_VMI = KINDS["VirtualMachineInstance"]
_REVISION = KINDS["ControllerRevision"]
_DENIED: Final = "cannot reset the condition RestartRequired, which may remain after the restart: {}"
_PENDING: Final = "the guest does not have the change yet, and KubeVirt does not ask for a restart"
_WAITS: Final = "the guest does not have the change yet, because KubeVirt has not completed an earlier live update ({})"
_NOT_ASKED: Final = "KubeVirt does not ask for a restart"
# A busy virt-controller compares a VM with its guest within this many seconds after it has captured a revision.
_COMPARED: Final = 30.0
# virt-controller updates the conditions of a new guest within this many seconds of its last write.
_QUIET: Final = 2.0
# How often a VM is read again until its conditions are final.
_READS: Final = 5


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


def _bump_if_unclean(session: Session, vm: Manifest, lookup: Lookup, outcome: WriteOutcome) -> bool:
    """Bumps the VM's generation if a restart would not clear its condition RestartRequired. False if it cannot."""
    start = lookup.get(_REVISION.kind, vm["metadata"]["namespace"], start_revision_name(vm))
    unclean = recapture.keeps_restart_required(vm, start if isinstance(start, dict) else None)
    return not unclean or bump_generation(session, vm, outcome)


def _restart(
    session: Session,
    guests: Sequence[tuple[Manifest, Manifest | None]],
    lookup: Lookup,
    seconds: float,
    concurrency: int,
) -> list[PowerOutcome]:
    """Restarts guests, each once at most, and waits for at most `seconds` until they run again.

    guests: VMs with their VMIs; a newer VMI is not restarted. lookup: of ControllerRevisions.
    """
    settings = WriteSettings(wait=True, wait_timeout=seconds, concurrency=concurrency)
    outcomes = {}
    for vm, vmi in guests:
        metadata = vm["metadata"]
        request = PowerRequest(RESTARTED)
        outcomes[PowerOutcome(metadata["namespace"], metadata["name"], request, uid_of(vmi), vm)] = vm
    run_writes(outcomes, lambda outcome: _bump_if_unclean(session, outcomes[outcome], lookup, outcome), settings)
    power(session, [outcome for outcome in outcomes if outcome.failed is None], settings)
    for outcome, vm in outcomes.items():
        outcome.vm = outcome.vm or vm
    return list(outcomes)


def _warn_of_condition(outcome: WriteOutcome, vm: Manifest) -> None:
    """Warns of a condition RestartRequired that remains although the guest has everything."""
    if restart_required(vm) is not None:
        outcome.warn(stale_restart_warning(vm))


def pending_effects(
    session: Session,
    vms: list[Manifest],
    vmis: dict[ObjectKey, Manifest] | None = None,
    *,
    unrequested: bool = True,
) -> list[GuestEffect | None]:
    """What the guests of VMs lack of earlier changes; None for a VM whose guest lacks nothing by the VM alone (see
    `may_lack_changes`), and for one whose VMI cannot be read.

    vmis: the VMIs, if the caller has them.
    """
    candidates = {_vmi_key(vm): vm for vm in vms if vm and may_lack_changes(vm, unrequested)}
    if not candidates:
        return [None for _vm in vms]
    try:
        lookup = ClusterLookup(session)
        cluster = Cluster(lookup, kubevirt(session))
        vmis = read(session, list(candidates)) if vmis is None else vmis
    except RequestFailed:
        return [None for _vm in vms]
    running = {key: (vm, vmis[key]) for key, vm in candidates.items() if key in vmis}
    lookup.gather(key for pair in running.values() for key in keys_for_guest(*pair, cluster.release))
    effects = {key: guest_effect(vm, vm, vmi, cluster) for key, (vm, vmi) in running.items()}
    return [effects.get(_vmi_key(vm)) if vm else None for vm in vms]


def _vmi_key(vm: Manifest) -> ObjectKey:
    return ObjectKey(_VMI.kind, vm["metadata"]["namespace"], vm["metadata"]["name"])


def waits_for_restart(outcome: DeclareOutcome) -> bool:
    """Whether the VM has, or would have, changes that reach the guest only by a restart."""
    effect = outcome.effect
    # The condition RestartRequired outlives the guest.
    if outcome.live is None or outcome.action == plan.DELETE or not has_guest(outcome.live):
        return False
    if outcome.restart or (effect is not None and effect.requested_in_vain):
        return False
    if effect is not None and (effect.unrequested or not (outcome.written and observed(outcome.live))):
        return effect.needs == RESTART
    return restart_required(outcome.live) is not None


class DeclaredRestarts:
    """The restarts of VMs that a task declares.

    permitted: restart the VMs that need it. concurrency: so many requests at a time. wait: wait for KubeVirt's decision
    even if not permitted.
    """

    def __init__(self, permitted: bool, concurrency: int, wait: bool = False) -> None:
        self._permitted, self._concurrency, self._wait = permitted, concurrency, wait

    def needs_restart(self, outcome: DeclareOutcome) -> bool:
        """Whether the VM needs a restart that its guest would survive, as far as known before the change."""
        return self._permitted and waits_for_restart(outcome) and not cannot_start(outcome.live or {})

    def predict(self, outcome: DeclareOutcome, check_mode: bool) -> None:
        """Says whether the task restarts the VM, or in check mode, that it will leave a current guest running."""
        outcome.restart = self.needs_restart(outcome)
        if check_mode and self._permitted and outcome.effect is not None and outcome.effect.requested_in_vain:
            # KubeVirt sets the condition after the change, if it is not there yet.
            outcome.warn(stale_restart_warning(outcome.live or {}, outcome.effect.reason))

    def run(self, session: Session, outcomes: list[DeclareOutcome], deadline: float) -> None:
        """Restarts the VMs that need it and waits until they run again, as long again as until the deadline. Failures
        go into the results.

        KubeVirt decides whether a VM needs a restart, once it has compared the change with the guest: one watch for
        each namespace. An unchanged VM that needs a restart because of an earlier change is restarted too, even if
        virt-controller has not looked at that change yet.
        """
        if not (self._permitted or self._wait):
            return
        seconds = max(0.0, deadline - time.monotonic())
        _await_decisions(session, [outcome for outcome in outcomes if _awaits_controller(outcome)], deadline)
        if not self._permitted:
            return
        live = [outcome for outcome in outcomes if not outcome.failed and outcome.live is not None]
        candidates = [outcome for outcome in live if self.needs_restart(outcome) or _keeps_condition(outcome)]
        try:
            vmis = read(session, [_vmi_key(outcome.live or {}) for outcome in candidates])
        except RequestFailed as error:
            for outcome in candidates:
                outcome.failed = f"the restart failed: {error}"
            return
        due = self._with_outdated_guests(session, candidates, vmis)
        guests = [(outcome.live or {}, vmis.get(_vmi_key(outcome.live or {}))) for outcome in due]
        # Restarted guests get the full wait, even if a VM that virt-controller ignored has used up the time.
        restarts = _restart(session, guests, ClusterLookup(session), seconds, self._concurrency)
        for outcome, restart in zip(due, restarts):
            outcome.live, outcome.restart = restart.vm, restart.changed
            outcome.warnings += restart.warnings
            outcome.failed = f"the restart failed: {restart.failed}" if restart.failed else None
            if outcome.effect is not None and not restart.failed:
                # From here on the condition tells whether the guest, which is new, needs a restart.
                outcome.effect = outcome.effect._replace(requested=True)
        self._with_outdated_guests(session, [outcome for outcome in due if not outcome.failed])

    def _with_outdated_guests(
        self, session: Session, outcomes: list[DeclareOutcome], vmis: dict[ObjectKey, Manifest] | None = None
    ) -> list[DeclareOutcome]:
        """The results whose guest needs a restart. Those of a guest that has everything get a warning."""
        needy = []
        effects = pending_effects(session, [outcome.live or {} for outcome in outcomes], vmis)
        for outcome, effect in zip(outcomes, effects):
            if effect is None or effect.needs in (RESTART, UNKNOWN):
                needy.append(outcome)
            elif not outcome.restart and (outcome.effect is None or outcome.effect.needs == RESTART):
                outcome.effect = (outcome.effect or effect)._replace(needs=effect.needs, requested=effect.requested)
            if effect is not None and effect.requested_in_vain:
                _warn_of_condition(outcome, outcome.live or {})
        return needy


def _awaits_controller(outcome: DeclareOutcome) -> bool:
    """Whether virt-controller may ask for a restart that it has not asked for so far."""
    if outcome.written:
        return outcome.effect is not None and (outcome.effect.needs != NOTHING or outcome.effect.requested)
    live = outcome.live
    return outcome.action == plan.NONE and live is not None and has_guest(live) and not observed(live)


def _keeps_condition(outcome: DeclareOutcome) -> bool:
    """Whether KubeVirt asks for a restart of a guest that has everything, as foreseen."""
    foreseen = outcome.effect is not None and outcome.effect.requested_in_vain
    return foreseen and restart_required(outcome.live or {}) is not None


def _await_decisions(session: Session, outcomes: list[DeclareOutcome], deadline: float) -> None:
    """Waits until virt-controller has decided whether the guests need a restart.

    After a new capture, KubeVirt reports the generation as observed before it has compared the VM with its guest. An
    expected condition that does not appear for long is not coming.
    """
    members = {(outcome.declared.key.namespace, outcome.declared.key.name): outcome for outcome in outcomes}

    def probe(outcome: DeclareOutcome, live: Manifest | None) -> Progress:
        state, effect = state_until(observed, live, "virt-controller to look at the change"), outcome.effect
        expected = effect is not None and effect.requested
        undecided = state.done and expected and restart_required(live or {}) is None
        return Progress(stuck=_NOT_ASKED, grace=_COMPARED) if undecided else state

    seconds = max(0.0, deadline - time.monotonic())
    probes = {key: partial(probe, outcome) for key, outcome in members.items()}
    for key, waited in wait_in_namespaces(session, _VM, probes, seconds).items():
        members[key].live = waited.object
        members[key].failed = None if _NOT_ASKED in (waited.failure or "") else waited.failure


class RevisionRestarts:
    """The restarts of VMs that got other revisions, and the waits for live updates."""

    def __init__(self, session: Session, settings: WriteSettings) -> None:
        self._session = session
        self._settings = settings
        # The VMs with a new guest, whoever restarted them.
        self._renewed: list[RevisionOutcome] = []

    def run(self, outcomes: list[RevisionOutcome]) -> None:
        """Brings the guests of VMs up to date. Failures go into the results; the timeout applies to each VM."""
        outcomes = [outcome for outcome in outcomes if outcome.may_need_update]
        if not outcomes:
            return
        lookup = ClusterLookup(self._session, strict=True)
        lookup.gather_lists((_REVISION.kind, outcome.before.namespace) for outcome in outcomes)
        run_writes(outcomes, lambda outcome: self._update_guest(outcome, lookup), self._settings)
        self._await_conditions([outcome for outcome in self._renewed if outcome.failed is None])

    def _update_guest(self, outcome: RevisionOutcome, lookup: ClusterLookup) -> None:
        deadline = time.monotonic() + self._settings.wait_timeout
        required, outcome.restart = outcome.restart, False
        vm, vmi, pending = self._await_guest(outcome, lookup, deadline)
        outcome.vm = vm
        if vmi is None or not outcome.may_restart:
            return
        if pending.refusal is not None:
            raise ConnectionFailed(f"not restarted because KubeVirt could not start the VM again: {pending.refusal}")
        needed = pending.outstanding or (
            required and (outcome.always or self._lacks_anything(outcome, vm, vmi, lookup))
        )
        if not needed:
            self._leave_running(outcome, vm, lookup)
            return
        seconds = max(0.0, deadline - time.monotonic())
        (restart,) = _restart(self._session, [(vm, vmi)], lookup, seconds, 1)
        outcome.bumps_generation = outcome.bumps_generation and not restart.warnings
        for warning in restart.warnings:
            outcome.warn(warning)
        outcome.vm, outcome.restart, outcome.failed = restart.vm, restart.changed, restart.failed
        outcome.written = outcome.written or restart.written
        if restart.renewed:
            self._renewed.append(outcome)

    def _lacks_anything(self, outcome: RevisionOutcome, vm: Manifest, vmi: Manifest, lookup: ClusterLookup) -> bool:
        """Whether the guest differs from a VM that just got other revisions, regardless of the start revision."""
        effect = guest_effect(vm, vm, vmi, Cluster(lookup, outcome.before.kubevirt), compare_all=True)
        return outcome.change.due and not effect.guest_current

    def _await_guest(
        self, outcome: RevisionOutcome, lookup: ClusterLookup, deadline: float
    ) -> tuple[Manifest, Manifest | None, GuestEffect]:
        """The VM, the VMI and what the guest lacks, once virt-controller has observed the VM.

        If a live update is possible, waits until the guest has the change or KubeVirt asks for a restart.
        """
        before = outcome.before
        pauses = Backoff()
        while True:
            vm, vmi = (self._session.get(kind, before.namespace, before.name) for kind in (_VM, _VMI))
            if vm is None:
                raise ConnectionFailed("the VM was deleted while the task waited for its guest")
            if vmi is None:
                return vm, None, GuestEffect(NOTHING)
            pending = guest_effect(vm, vm, vmi, Cluster(lookup, before.kubevirt))
            updated = not outcome.may_be_live or not pending.outstanding
            if observed(vm) and (updated or restart_required(vm) is not None):
                return vm, vmi, pending
            earlier = under_way(vmi, pending.outstanding) if observed(vm) else None
            # The VM has its revisions, as requested; without a restart, KubeVirt decides when the guest gets them.
            no_wait = earlier is not None and not outcome.may_restart
            if no_wait or not pauses.pause(max(0.0, deadline - time.monotonic()) + pauses.seconds):
                message = _PENDING if earlier is None else _WAITS.format(earlier)
                if outcome.may_restart:
                    raise ConnectionFailed(message)
                outcome.warnings.append(message)
                return vm, vmi, pending

    def _leave_running(self, outcome: RevisionOutcome, vm: Manifest, lookup: ClusterLookup) -> None:
        """Leaves a guest running that has everything the VM declares. The next restart clears RestartRequired."""
        outcome.guest_current = True
        if restart_required(vm) is not None:
            outcome.bumps_generation = _bump_if_unclean(self._session, vm, lookup, outcome) and outcome.bumps_generation
            _warn_of_condition(outcome, vm)

    def _await_conditions(self, outcomes: list[RevisionOutcome]) -> None:
        """Reads the VMs with a new guest once nothing writes them any more.

        The guest is new, so a remaining condition RestartRequired is a warning and no reason for another restart.
        """
        moving = outcomes
        for _read in range(_READS):
            if not moving:
                break
            time.sleep(_QUIET)
            moved = map_concurrently(self._moved, moving, self._settings.concurrency)
            moving = [outcome for outcome, has_moved in zip(moving, moved) if has_moved]
        for outcome in outcomes:
            # The guest was started from the current VM.
            outcome.guest_current = True
            _warn_of_condition(outcome, outcome.vm or {})

    def _moved(self, outcome: RevisionOutcome) -> bool:
        """Whether the VM was written since it was last read, or virt-controller has not observed it. Stores the newer
        VM.
        """
        before, last = outcome.before, outcome.vm
        try:
            outcome.vm = self._session.get(_VM, before.namespace, before.name) or last
        except RequestFailed:
            # The restart succeeded; a failed extra read does not matter.
            return False
        return _version_of(outcome.vm) != _version_of(last) or not observed(outcome.vm or {})


def _version_of(manifest: Manifest | None) -> str:
    return str((manifest or {}).get("metadata", {}).get("resourceVersion"))
