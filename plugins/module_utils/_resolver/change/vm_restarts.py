"""Which guests a task that declares VMs restarts, and what it says of the others."""

from __future__ import annotations

from ..api.write import merge_patch
from ..declare import plan
from ..guest.effect import NOTHING, RESTART, UNKNOWN
from ..kubevirt.vm.failures import retry_patch
from ..kubevirt.vm.readiness import cannot_start, has_guest, observed, restart_required, stale_restart_warning
from ..preflight.lost_objects import power_problem
from .declared import DeclareJob, is_written
from .guest import Guest, warn_of_condition
from .step import REQUEST, Act, Facts


def waits_for_restart(job: DeclareJob) -> bool:
    """Whether the VM has, or would have, changes that reach the guest only by a restart."""
    live, effect = job.seen.live, job.goal.effect
    # The condition RestartRequired outlives the guest.
    if live is None or job.goal.action == plan.DELETE or not has_guest(live):
        return False
    if REQUEST in job.done or (effect is not None and effect.restart_superfluous):
        return False
    if effect is not None and (effect.restart_unasked or not (is_written(job) and observed(live))):
        return effect.needs == RESTART
    return restart_required(live) is not None


def may_restart(job: DeclareJob) -> bool:
    """Whether the VM needs a restart that its guest would survive, as far as the VM shows."""
    return waits_for_restart(job) and not cannot_start(job.seen.live or {})


def forecast_restart(job: DeclareJob, facts: Facts, *, check_mode: bool) -> None:
    """Predicts whether a task that may restart guests will restart the guest of a VM."""
    live, effect = job.seen.live or {}, job.goal.effect
    restarts = may_restart(job)
    if check_mode and effect is not None and effect.restart_superfluous:
        # KubeVirt sets the condition after the change, if it is not there yet.
        job.warn(stale_restart_warning(live, effect.reason))
    # KubeVirt reports a lost revision only after it has looked at the VM again.
    job.goal.restarts = restarts and power_problem(live, facts, facts.cluster.release) is None


def guest_of(job: DeclareJob, permitted: bool) -> Guest:
    """The guest of a declared VM. permitted: the task may restart it."""
    expected = job.goal.effect is not None and job.goal.effect.requested
    return Guest(permitted, RESTART if expected else NOTHING)


def awaits_controller(job: DeclareJob) -> bool:
    """Whether virt-controller may ask for a restart that it has not asked for so far."""
    live, effect = job.seen.live, job.goal.effect
    if is_written(job):
        return effect is not None and (effect.needs != NOTHING or effect.requested)
    return job.goal.action == plan.NONE and live is not None and has_guest(live) and not observed(live)


def keeps_condition(job: DeclareJob) -> bool:
    """Whether KubeVirt asks for a restart of a guest that has everything, as foreseen."""
    foreseen = job.goal.effect is not None and job.goal.effect.restart_superfluous
    return foreseen and restart_required(job.seen.live or {}) is not None


def needs_restart(job: DeclareJob, guest: Guest) -> bool:
    """Whether the guest needs a restart, now that it is known; one that has everything gets a warning instead."""
    goal, effect = job.goal, guest.effect
    if effect is None or job.seen.vmi is None:
        return False
    if effect.restart_superfluous:
        warn_of_condition(job, job.seen.live or {})
    if guest.needs_restart or effect.needs == UNKNOWN:
        return True
    if goal.effect is None or goal.effect.needs == RESTART:
        goal.effect = (goal.effect or effect)._replace(needs=effect.needs, requested=effect.requested)
    return False


def note_restart(job: DeclareJob) -> None:
    """Notes that the guest of a VM is new: from here on the condition tells whether it needs a restart."""
    if job.goal.effect is not None:
        job.goal.effect = job.goal.effect._replace(requested=True)


def retry_act(job: DeclareJob, field_manager: str) -> Act | None:
    """Makes virt-controller try again what has failed before, and what it would repeat only minutes later.

    No declared field changes. A user who may not write the VM waits for virt-controller.
    """
    patch = retry_patch(job.seen.live) if job.seen.live and not is_written(job) else None
    if patch is None:
        return None
    write = merge_patch(job.key.path, patch, fieldManager=field_manager)
    return Act((write,), on_error=lambda _refusal: None, is_change=False)
