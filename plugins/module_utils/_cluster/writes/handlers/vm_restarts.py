"""Which guests a task that declares VMs restarts, and what it says of the others."""

from __future__ import annotations

from collections.abc import Sequence

from ...._resolver.change.guest_steps import warn_of_condition
from ...._resolver.change.power_steps import REQUEST
from ...._resolver.declare import plan
from ...._resolver.guest.effect import NOTHING, RESTART, UNKNOWN
from ...._resolver.kubevirt.vm.readiness import (
    cannot_start,
    has_guest,
    observed,
    restart_required,
    stale_restart_warning,
)
from ...client.concurrency import seconds_left
from ...client.session import Session
from ...reads.lookup import ClusterLookup
from ...task import Task
from ..engine import run
from ..kind_handler import DeclareOutcome
from ..restarts import GuestJob, guest_job, guest_steps, pending_effects, restart


def waits_for_restart(outcome: DeclareOutcome) -> bool:
    """Whether the VM has, or would have, changes that reach the guest only by a restart."""
    effect = outcome.effect
    # The condition RestartRequired outlives the guest.
    if outcome.live is None or outcome.action == plan.DELETE or not has_guest(outcome.live):
        return False
    if outcome.restart or (effect is not None and effect.restart_superfluous):
        return False
    if effect is not None and (effect.restart_unasked or not (outcome.written and observed(outcome.live))):
        return effect.needs == RESTART
    return restart_required(outcome.live) is not None


def may_restart(outcome: DeclareOutcome) -> bool:
    """Whether the VM needs a restart that its guest would survive, as far as the VM shows."""
    return waits_for_restart(outcome) and not cannot_start(outcome.live or {})


def warn_in_check_mode(outcome: DeclareOutcome) -> None:
    """Says that a task which may restart guests will leave a current one running."""
    if outcome.effect is not None and outcome.effect.restart_superfluous:
        # KubeVirt sets the condition after the change, if it is not there yet.
        outcome.warn(stale_restart_warning(outcome.live or {}, outcome.effect.reason))


def restart_declared(
    session: Session, outcomes: Sequence[DeclareOutcome], permitted: bool, concurrency: int, deadline: float
) -> None:
    """Restarts the VMs that need it and waits until they run again, as long again as until the deadline.

    KubeVirt decides whether a VM needs a restart, once it has compared the change with the guest. An unchanged VM that
    needs a restart because of an earlier change is restarted too, even if virt-controller has not looked at that change
    yet. permitted: restart guests; else only wait for KubeVirt's decision.
    """
    seconds = seconds_left(deadline)
    steps, task = guest_steps(session), Task(wait=True, wait_timeout=seconds, concurrency=concurrency)
    jobs = {outcome: _guest_job(outcome, permitted) for outcome in outcomes if outcome.live is not None}
    run(session, [jobs[outcome] for outcome in jobs if _awaits_controller(outcome)], [steps.observe], task)
    for outcome, job in jobs.items():
        outcome.live, outcome.failed = job.seen.live or outcome.live, job.failed
    if not permitted:
        return
    lookup = ClusterLookup(session)
    candidates = [
        outcome for outcome in jobs if not outcome.failed and (may_restart(outcome) or _keeps_condition(outcome))
    ]
    run(session, [jobs[outcome] for outcome in candidates], [steps.compare], task, lookup=lookup)
    due = [outcome for outcome in candidates if not jobs[outcome].failed and _needs_restart(outcome, jobs[outcome])]
    # Restarted guests get the full wait, even if a VM that virt-controller ignored has used up the time.
    restart(lookup, steps, [jobs[outcome] for outcome in due], concurrency, seconds)
    for outcome in candidates:
        if jobs[outcome].failed:
            outcome.failed = f"the restart failed: {jobs[outcome].failed}"
    for outcome in due:
        job = jobs[outcome]
        outcome.live, outcome.restart = job.seen.live, REQUEST in job.done
        outcome.warnings += job.warnings
        if not job.failed and outcome.effect is not None:
            # From here on the condition tells whether the guest, which is new, needs a restart.
            outcome.effect = outcome.effect._replace(requested=True)
    renewed = [outcome for outcome in due if not outcome.failed]
    for outcome, effect in zip(renewed, pending_effects(session, [outcome.live or {} for outcome in renewed])):
        if effect is not None and effect.restart_superfluous:
            warn_of_condition(outcome, outcome.live or {})


def _guest_job(outcome: DeclareOutcome, permitted: bool) -> GuestJob:
    expected = outcome.effect is not None and outcome.effect.requested
    return guest_job(outcome.live or {}, permitted, RESTART if expected else NOTHING)


def _needs_restart(outcome: DeclareOutcome, job: GuestJob) -> bool:
    """Whether the guest needs a restart, now that it is known; one that has everything gets a warning instead."""
    effect = job.goal.effect
    if effect is None or job.seen.vmi is None:
        return False
    if effect.restart_superfluous:
        warn_of_condition(outcome, outcome.live or {})
    if job.goal.needs_restart or effect.needs == UNKNOWN:
        return True
    if outcome.effect is None or outcome.effect.needs == RESTART:
        outcome.effect = (outcome.effect or effect)._replace(needs=effect.needs, requested=effect.requested)
    return False


def _awaits_controller(outcome: DeclareOutcome) -> bool:
    """Whether virt-controller may ask for a restart that it has not asked for so far."""
    if outcome.written:
        return outcome.effect is not None and (outcome.effect.needs != NOTHING or outcome.effect.requested)
    live = outcome.live
    return outcome.action == plan.NONE and live is not None and has_guest(live) and not observed(live)


def _keeps_condition(outcome: DeclareOutcome) -> bool:
    """Whether KubeVirt asks for a restart of a guest that has everything, as foreseen."""
    foreseen = outcome.effect is not None and outcome.effect.restart_superfluous
    return foreseen and restart_required(outcome.live or {}) is not None
