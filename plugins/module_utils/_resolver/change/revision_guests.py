"""The steps that bring the guests of VMs with other revisions up to date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..guest.arrival import plugged_figures
from ..guest.effect import LIVE
from ..guest.predict import guest_effect
from ..kubevirt.vm.readiness import restart_required
from .arrival_steps import arrival_step
from .guest import warn_of_condition
from .guest_steps import GuestSteps
from .revision_steps import RevisionJob
from .step import Decision, Facts, Step


def update_steps(steps: GuestSteps) -> tuple[Step, ...]:
    """The steps that find out which guests of VMs with other revisions restart, and what the others wait for."""
    return (
        steps.observe,
        steps.update,
        Step("choose", _choose),
        steps.bump(_stays_in_vain),
        Step("warn", _warn_of_condition),
        steps.unless_restarted(arrival_step(_live_figures)),
    )


def _live_figures(job: RevisionJob) -> Mapping[str, Any] | None:
    """The figures that the guest gets live, once KubeVirt has noted them; None for one that restarts or lacks them."""
    goal, effect = job.goal, job.goal.guest.effect
    is_noted = goal.guest.expects == LIVE and effect is not None and not effect.outstanding
    return plugged_figures(goal.foreseen) if is_noted and not goal.restarts else None


def _choose(job: RevisionJob, facts: Facts) -> Decision:
    """Decides whether to restart the guest. A guest that has everything keeps running."""
    goal = job.goal
    goal.restarts = job.seen.vmi is not None and goal.guest.may_restart and _is_due(job, facts)
    if job.seen.vmi is not None and goal.guest.may_restart and not goal.restarts:
        goal.guest_current = True
    return None


def _stays_in_vain(job: RevisionJob) -> bool:
    """Whether KubeVirt asks for a restart of a guest that has everything, and that the task might restart."""
    stays = job.goal.guest_current and job.goal.guest.may_restart and job.seen.vmi is not None
    return stays and restart_required(job.seen.live or {}) is not None


def _is_due(job: RevisionJob, facts: Facts) -> bool:
    goal, (vm, vmi) = job.goal, job.seen
    effect = goal.guest.effect
    if effect is None or vm is None or vmi is None:
        return False
    if effect.outstanding or effect.refusal is not None:
        return True
    if not goal.restarts or goal.always:
        return goal.restarts
    # A VM that just got other revisions may differ from a guest of the same start revision.
    whole = guest_effect(vm, vm, vmi, facts.cluster, compare_all=True)
    return goal.change.due and not whole.guest_current


def _warn_of_condition(job: RevisionJob, _facts: Facts) -> Decision:
    if _stays_in_vain(job):
        warn_of_condition(job, job.seen.live or {})
    return None
