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
    for outcome in due:
        outcome.expects = LIVE if outcome.may_be_live else NOTHING
        # Until here `restart` was a forecast; from here on it records what was done.
        outcome.restart = False
    try:
        lookup.gather_lists((_REVISION.kind, outcome.namespace) for outcome in due)
        deadline = time.monotonic() + task.wait_timeout
        await_controller(session, due, deadline)
        compare_guests(lookup, _not_failed(due))
        await_live_updates(lookup, _not_failed(due), deadline)
    except RequestFailed as error:
        for outcome in due:
            outcome.failed = outcome.failed or str(error)
    restarted = []
    for outcome in _not_failed(due):
        if outcome.vmi is not None and outcome.may_restart:
            if _is_due(outcome, required[outcome], lookup):
                restarted.append(outcome)
            else:
                _leave_running(lookup, outcome)
    warned = {outcome: len(outcome.warnings) for outcome in restarted}
    restart(lookup, restarted, task.concurrency, task.wait_timeout, task.concurrency)
    for outcome in restarted:
        outcome.restart = bool(outcome.verb)
        if len(outcome.warnings) > warned[outcome]:
            outcome.bumps_generation = False
    await_conditions(session, [outcome for outcome in restarted if outcome.renewed], task.concurrency)


def _not_failed(outcomes: Collection[RevisionOutcome]) -> list[RevisionOutcome]:
    return [outcome for outcome in outcomes if outcome.failed is None]


def _is_due(outcome: RevisionOutcome, required: bool, lookup: ClusterLookup) -> bool:
    """Whether to restart the guest of a VM. required: the VM needs a restart, as far as known before its change."""
    effect, vmi = outcome.effect, outcome.vmi
    if effect is None or vmi is None:
        return False
    if effect.outstanding or effect.refusal is not None:
        return True
    if not required or outcome.always:
        return required
    # A VM that just got other revisions may differ from a guest of the same start revision.
    whole = guest_effect(outcome.live, outcome.live, vmi, lookup.cluster, compare_all=True)
    return outcome.change.due and not whole.guest_current


def _leave_running(lookup: ClusterLookup, outcome: RevisionOutcome) -> None:
    """Leaves a guest running that has everything the VM declares. The next restart clears RestartRequired."""
    outcome.guest_current = True
    if restart_required(outcome.live) is None:
        return
    try:
        outcome.bumps_generation = bump_if_unclean(lookup, outcome.live, outcome) and outcome.bumps_generation
    except RequestFailed as error:
        outcome.failed = str(error)
        return
    warn_of_condition(outcome, outcome.live)


def await_conditions(session: Session, outcomes: list[RevisionOutcome], concurrency: int) -> None:
    """Reads the VMs with a new guest once nothing writes them any more.

    The guest is new, so a remaining condition RestartRequired is a warning and no reason for another restart.
    """

    def moved(outcome: RevisionOutcome) -> bool:
        """Whether the VM was written since it was last read, or virt-controller has not observed it."""
        last = outcome.vm
        try:
            outcome.vm = session.get(_VM, outcome.namespace, outcome.name) or last
        except RequestFailed:
            # The restart succeeded; a failed extra read does not matter.
            return False
        versions = {str((vm or {}).get("metadata", {}).get("resourceVersion")) for vm in (outcome.vm, last)}
        return len(versions) > 1 or not observed(outcome.live)

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
        warn_of_condition(outcome, outcome.live)
