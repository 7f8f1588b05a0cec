"""Which guests a task that gives VMs other revisions restarts, and what it waits for."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Final

from ..._resolver.api.kinds import KINDS
from ..._resolver.guest.effect import LIVE, NOTHING, guest_effect
from ..._resolver.kubevirt.vm.readiness import observed, restart_required
from ..client.concurrency import map_concurrently
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..task import Task
from .restarts import (
    GuestUpdate,
    await_controller,
    await_live_updates,
    bump_if_unclean,
    compare_guests,
    restart,
    warn_of_condition,
)
from .revision_outcome import RevisionOutcome

_VM = KINDS["VirtualMachine"]
_REVISION = KINDS["ControllerRevision"]
# virt-controller updates the conditions of a new guest within this many seconds of its last write.
_QUIET: Final = 2.0
# How often a VM is read again until its conditions are final.
_READS: Final = 5


def update_guests(session: Session, outcomes: Collection[RevisionOutcome], task: Task) -> None:
    """Brings the guests of VMs that got other revisions up to date. Failures go into the outcomes.

    `concurrency` guests restart at the same time. The timeout applies to the wait for KubeVirt, and to each such group.
    """
    due = [outcome for outcome in outcomes if outcome.may_need_update]
    if not due:
        return
    lookup = ClusterLookup(session, strict=True)
    required = {outcome: outcome.restart for outcome in due}
    updates = {outcome: _update(outcome) for outcome in due}
    for outcome in due:
        # Until here `restart` was a forecast; from here on it records what was done.
        outcome.restart = False
    try:
        lookup.gather_lists((_REVISION.kind, outcome.before.namespace) for outcome in due)
        deadline = time.monotonic() + task.wait_timeout
        await_controller(session, updates.values(), deadline)
        compare_guests(lookup, _not_failed(updates.values()))
        await_live_updates(lookup, _not_failed(updates.values()), deadline)
    except RequestFailed as error:
        for update in updates.values():
            update.failed = update.failed or str(error)
    restarted = []
    for outcome, update in updates.items():
        if update.failed is not None or update.vmi is None or not update.may_restart:
            continue
        if _is_due(outcome, update, required[outcome], lookup):
            restarted.append(update)
        else:
            _leave_running(lookup, outcome, update)
    restart(lookup, restarted, task.concurrency, task.wait_timeout, task.concurrency)
    for outcome, update in updates.items():
        outcome.vm, outcome.restart = update.vm, update.changed
        outcome.failed, outcome.written = outcome.failed or update.failed, outcome.written or update.written
        for warning in update.warnings:
            outcome.warn(warning)
        if update in restarted and update.warnings:
            outcome.bumps_generation = False
    renewed = [outcome for outcome, update in updates.items() if update in restarted and update.renewed]
    await_conditions(session, renewed, task.concurrency)


def _update(outcome: RevisionOutcome) -> GuestUpdate:
    expects = LIVE if outcome.may_be_live else NOTHING
    return GuestUpdate.of(outcome.vm or outcome.before.vm, outcome.may_restart, expects)


def _not_failed(updates: Collection[GuestUpdate]) -> list[GuestUpdate]:
    return [update for update in updates if update.failed is None]


def _is_due(outcome: RevisionOutcome, update: GuestUpdate, required: bool, lookup: ClusterLookup) -> bool:
    """Whether to restart the guest of a VM. required: the VM needs a restart, as far as known before its change."""
    effect, vmi = update.effect, update.vmi
    if effect is None or vmi is None:
        return False
    if effect.outstanding or effect.refusal is not None:
        return True
    if not required or outcome.always:
        return required
    # A VM that just got other revisions may differ from a guest of the same start revision.
    whole = guest_effect(update.live, update.live, vmi, lookup.cluster, compare_all=True)
    return outcome.change.due and not whole.guest_current


def _leave_running(lookup: ClusterLookup, outcome: RevisionOutcome, update: GuestUpdate) -> None:
    """Leaves a guest running that has everything the VM declares. The next restart clears RestartRequired."""
    outcome.guest_current = True
    if restart_required(update.live) is None:
        return
    try:
        outcome.bumps_generation = bump_if_unclean(lookup, update.live, outcome) and outcome.bumps_generation
    except RequestFailed as error:
        outcome.failed = str(error)
        return
    warn_of_condition(outcome, update.live)


def await_conditions(session: Session, outcomes: list[RevisionOutcome], concurrency: int) -> None:
    """Reads the VMs with a new guest once nothing writes them any more.

    The guest is new, so a remaining condition RestartRequired is a warning and no reason for another restart.
    """

    def moved(outcome: RevisionOutcome) -> bool:
        """Whether the VM was written since it was last read, or virt-controller has not observed it."""
        before, last = outcome.before, outcome.vm
        try:
            outcome.vm = session.get(_VM, before.namespace, before.name) or last
        except RequestFailed:
            # The restart succeeded; a failed extra read does not matter.
            return False
        versions = {str((vm or {}).get("metadata", {}).get("resourceVersion")) for vm in (outcome.vm, last)}
        return len(versions) > 1 or not observed(outcome.vm or {})

    moving = outcomes
    for _read in range(_READS):
        if not moving:
            break
        time.sleep(_QUIET)
        has_moved = map_concurrently(moved, moving, concurrency)
        moving = [outcome for outcome, again in zip(moving, has_moved) if again]
    for outcome in outcomes:
        # The guest was started from the current VM.
        outcome.guest_current = True
        warn_of_condition(outcome, outcome.vm or {})
