"""Which guests a task that declares VMs restarts, and what it says of the others."""

from __future__ import annotations

from collections.abc import Sequence

from ...._resolver.change.declared import DeclareJob
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
from ..restarts import GuestJob, guest_job, guest_steps, pending_effects, restart


def waits_for_restart(outcome: DeclareJob) -> bool:
    """Whether the VM has, or would have, changes that reach the guest only by a restart."""
    effect = outcome.goal.effect
    # The condition RestartRequired outlives the guest.
    if outcome.seen.live is None or outcome.goal.action == plan.DELETE or not has_guest(outcome.seen.live):
        return False
    if outcome.goal.restart or (effect is not None and effect.restart_superfluous):
        return False
    if effect is not None and (effect.restart_unasked or not (outcome.written and observed(outcome.seen.live))):
        return effect.needs == RESTART
    return restart_required(outcome.seen.live) is not None


def may_restart(outcome: DeclareJob) -> bool:
    """Whether the VM needs a restart that its guest would survive, as far as the VM shows."""
    return waits_for_restart(outcome) and not cannot_start(outcome.seen.live or {})


def warn_in_check_mode(outcome: DeclareJob) -> None:
    """Says that a task which may restart guests will leave a current one running."""
    if outcome.goal.effect is not None and outcome.goal.effect.restart_superfluous:
        # KubeVirt sets the condition after the change, if it is not there yet.
        outcome.warn(stale_restart_warning(outcome.seen.live or {}, outcome.goal.effect.reason))


def restart_declared(
    session: Session, outcomes: Sequence[DeclareJob], permitted: bool, concurrency: int, deadline: float
) -> None:
    """Restarts the VMs that need it and waits until they run again, as long again as until the deadline.

    KubeVirt decides whether a VM needs a restart, once it has compared the change with the guest. An unchanged VM that
    needs a restart because of an earlier change is restarted too, even if virt-controller has not looked at that change
    yet. permitted: restart guests; else only wait for KubeVirt's decision.
    """
    seconds = seconds_left(deadline)
    steps, task = guest_steps(session), Task(wait=True, wait_timeout=seconds, concurrency=concurrency)
    jobs = {outcome: _guest_job(outcome, permitted) for outcome in outcomes if outcome.seen.live is not None}
    run(session, [jobs[outcome] for outcome in jobs if _awaits_controller(outcome)], [steps.observe], task)
    for outcome, job in jobs.items():
        outcome.failed = job.failed
        outcome.see(job.seen.live or outcome.seen.live)
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
        outcome.goal.restart = REQUEST in job.done
        outcome.acted = outcome.acted or outcome.goal.restart
        outcome.see(job.seen.live)
        outcome.warnings += job.warnings
        if not job.failed and outcome.goal.effect is not None:
            # From here on the condition tells whether the guest, which is new, needs a restart.
            outcome.goal.effect = outcome.goal.effect._replace(requested=True)
    renewed = [outcome for outcome in due if not outcome.failed]
    for outcome, effect in zip(renewed, pending_effects(session, [outcome.seen.live or {} for outcome in renewed])):
        if effect is not None and effect.restart_superfluous:
            warn_of_condition(outcome, outcome.seen.live or {})


def _guest_job(outcome: DeclareJob, permitted: bool) -> GuestJob:
    expected = outcome.goal.effect is not None and outcome.goal.effect.requested
    return guest_job(outcome.seen.live or {}, permitted, RESTART if expected else NOTHING)


def _needs_restart(outcome: DeclareJob, job: GuestJob) -> bool:
    """Whether the guest needs a restart, now that it is known; one that has everything gets a warning instead."""
    effect = job.goal.effect
    if effect is None or job.seen.vmi is None:
        return False
    if effect.restart_superfluous:
        warn_of_condition(outcome, outcome.seen.live or {})
    if job.goal.needs_restart or effect.needs == UNKNOWN:
        return True
    if outcome.goal.effect is None or outcome.goal.effect.needs == RESTART:
        outcome.goal.effect = (outcome.goal.effect or effect)._replace(needs=effect.needs, requested=effect.requested)
    return False


def _awaits_controller(outcome: DeclareJob) -> bool:
    """Whether virt-controller may ask for a restart that it has not asked for so far."""
    if outcome.written:
        return outcome.goal.effect is not None and (
            outcome.goal.effect.needs != NOTHING or outcome.goal.effect.requested
        )
    live = outcome.seen.live
    return outcome.goal.action == plan.NONE and live is not None and has_guest(live) and not observed(live)


def _keeps_condition(outcome: DeclareJob) -> bool:
    """Whether KubeVirt asks for a restart of a guest that has everything, as foreseen."""
    foreseen = outcome.goal.effect is not None and outcome.goal.effect.restart_superfluous
    return foreseen and restart_required(outcome.seen.live or {}) is not None
