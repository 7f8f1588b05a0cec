"""The steps that give a VM other revisions, and what a task says of the VM afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ..api.managed_fields import applied_part
from ..api.manifest import Manifest, Progress
from ..api.matcher import MatcherField
from ..api.tree import apply_merge_patch, value_at
from ..api.write import Write, apply, merge_patch
from ..guest.effect import LIVE, NOTHING, RESTART, GuestEffect
from ..kubevirt.vm.readiness import has_guest, restart_required, stale_restart_warning
from ..kubevirt.vm.start import start_revision_name
from . import recapture
from .controller_revisions import is_captured
from .drift import Drift
from .guest import BUMP, Guest, bumping
from .revision_change import RevisionChange
from .step import REQUEST, Act, Decision, Facts, Job, Probe, Refusal, Refuse, Step, state_until

ROLL_BACK: Final = "roll back"
# virt-controller's cache of instancetypes is less than a second behind.
_LAG: Final = 1.0
_TRIES: Final = 3
_CAPTURE: Final = "KubeVirt to capture the revision"
_STALE: Final = "KubeVirt keeps capturing an older generation than the current one; run the task again later"
_NOT_STARTED: Final = "KubeVirt could not start the VM after the change: {}"
_LOST: Final = "; the VM has lost its previous revisions, so the task could not restore them"
_RESTORED: Final = "; the task restored the previous revisions"


@dataclass(eq=False, repr=False)
class Revision:
    """Other revisions for one VM.

    before: the VM with its drift. change: the decision. always: restart the guest even if it does not need it.
    restarts: the guest needs a restart. bumps: the task bumps the VM's generation, so that the next restart clears the
    condition RestartRequired. guest_current: the guest has everything that the VM declares, even if KubeVirt asks for a
    restart. start_refusal: why KubeVirt could not start the VM with the new revisions. revisions: the revisions of the
    VM afterwards, by matcher.
    """

    before: Drift
    change: RevisionChange
    guest: Guest = field(default_factory=Guest)
    always: bool = False
    restarts: bool = False
    bumps: bool = False
    guest_current: bool = False
    start_refusal: str = ""
    revisions: dict[str, str] = field(default_factory=dict)

    @property
    def foreseen(self) -> GuestEffect:
        """The effect of the change, or without one, what the guest lacks of earlier changes."""
        return self.change.effect if self.change.due and self.change.effect is not None else self.before.pending

    @property
    def may_be_live(self) -> bool:
        """Whether the VM has a guest that is expected to take the change without a restart. KubeVirt decides."""
        return self.change.due and self.foreseen.needs == LIVE


RevisionJob = Job[Revision]


def is_terminating(before: Drift) -> bool:
    return bool(before.vm["metadata"].get("deletionTimestamp"))


def plan_restart(job: RevisionJob, option: str) -> None:
    """Decides whether a VM needs a restart, as far as known before its change.

    option: `never`, `if_required` or `always`.
    """
    goal = job.goal
    before, change = goal.before, goal.change
    if not has_guest(before.vm) or is_terminating(before):
        return
    may_restart = goal.guest.may_restart = option != "never"
    goal.always = option == "always"
    if change.due:
        goal.restarts = may_restart and (goal.always or goal.foreseen.needs == RESTART)
    elif before.pending.restart_superfluous:
        goal.guest_current = True
        start = before.revision(start_revision_name(before.vm))
        goal.bumps = may_restart and recapture.keeps_restart_required(before.vm, start)
        if not goal.bumps:
            job.warn(stale_restart_warning(before.vm))
    else:
        goal.restarts = may_restart and before.restart_required
    goal.guest.expects = LIVE if goal.may_be_live else NOTHING


def is_changed(job: RevisionJob) -> bool:
    """Whether the task changed the VM or, in check mode, would change it. True also if a later step failed."""
    return job.changed and ROLL_BACK not in job.done


def is_restarted(job: RevisionJob) -> bool:
    return REQUEST in job.done


def needs(job: RevisionJob) -> str:
    """NOTHING, LIVE, RESTART or UNKNOWN: how the change reaches, or reached, the running guest."""
    goal = job.goal
    if is_restarted(job):
        return RESTART
    # KubeVirt has the last word, once it has compared the VM with its guest.
    asks = job.written and restart_required(job.seen.live or {}) is not None and not goal.guest_current
    return RESTART if asks and goal.foreseen.needs == LIVE else goal.foreseen.needs


def needs_restart_still(job: RevisionJob) -> bool:
    """Whether the guest still needs a restart."""
    goal, vm = job.goal, job.seen.live or {}
    if goal.guest_current or (is_restarted(job) and job.written):
        return False
    if not job.written:
        return goal.before.restart_required
    return has_guest(vm) and (needs(job) == RESTART or restart_required(vm) is not None)


def needs_update(job: RevisionJob) -> bool:
    """Whether the guest may lack something that the task may give it, or wait for."""
    goal = job.goal
    may_change = goal.change.due and (goal.guest.may_restart or goal.may_be_live)
    return job.failed is None and (goal.restarts or goal.bumps or may_change)


def note_revisions(job: RevisionJob) -> None:
    """Notes the revisions that a VM has captured."""
    vm = job.seen.live
    if vm is not None and ROLL_BACK not in job.done:
        job.goal.revisions = {
            matcher_field.name: recapture.captured_name(vm, matcher_field)
            for matcher_field in job.goal.change.matcher_fields
            if matcher_field.matcher_of(vm)
        }


def capture_steps(field_manager: str, *, check_mode: bool) -> tuple[Step, ...]:
    """The steps that give VMs the decided revisions.

    If KubeVirt could not start a VM with them, the VM gets its previous revisions back and fails.
    """
    steps = _CaptureSteps(field_manager)
    first = (
        Step("change", steps.change),
        Step(BUMP, steps.bump),
        Step("recapture", steps.recapture, until=steps.until_captured),
    )
    if check_mode:
        return (*first, Step(REQUEST, _foreseen_restart), Step(BUMP, _foreseen_bump))
    again = Step("recapture again", steps.recapture_stale, pause=_LAG, until=steps.until_captured_again)
    return (
        *first,
        *[again] * _TRIES,
        Step("compare revisions", steps.refuse_stale),
        Step("end", steps.afterwards),
        Step("check start", steps.check_start),
        Step(ROLL_BACK, steps.roll_back, until=steps.until_rolled_back, after_wait=_not_rolled_back),
        Step("unpin", steps.unpin),
        Step("refuse", steps.refuse_start),
    )


def _foreseen_restart(job: RevisionJob, _facts: Facts) -> Decision:
    return Act(()) if job.goal.restarts else None


def _foreseen_bump(job: RevisionJob, _facts: Facts) -> Decision:
    return Act(()) if job.goal.bumps and BUMP not in job.done else None


class _CaptureSteps:
    def __init__(self, field_manager: str) -> None:
        self._field_manager = field_manager

    def _patch(self, job: RevisionJob, body: Manifest, part: str = "", **query: str) -> tuple[Write]:
        """A merge patch. The fields that it sets do not conflict with a play that declares the VM."""
        path = f"{job.key.path}/{part}" if part else job.key.path
        return (merge_patch(path, body, fieldManager=self._field_manager, **query),)

    def change(self, job: RevisionJob, _facts: Facts) -> Decision:
        spec, annotations = job.goal.change.spec, job.goal.change.annotations
        if spec is None:
            return None
        writes = self._patch(job, {"spec": spec})
        if annotations is not None:
            # A play that has applied the values goes on owning them.
            applied = applied_part(job.goal.before.vm, self._field_manager)
            body = apply_merge_patch(applied, {"metadata": {"annotations": annotations}, "spec": spec})
            writes = (apply(job.key.path, body, self._field_manager, force=True),)
        return Act(writes, writes, undone=partial(_undone, spec))

    def bump(self, job: RevisionJob, _facts: Facts) -> Decision:
        before = job.goal.before
        change = job.goal.change
        due = change.recapture and change.annotations is None and recapture.must_bump_generation(before)
        # KubeVirt rejects a VM without its revision until it has captured one. The task checks again before a restart.
        return bumping(job, before.vm, self._field_manager, may_be_invalid=True) if due else None

    def recapture(self, job: RevisionJob, _facts: Facts) -> Decision:
        if not job.goal.change.recapture:
            return None
        writes = self._patch(job, recapture.recapture_patch(_fields_to_recapture(job)), "status")
        return Act(writes, writes)

    def recapture_stale(self, job: RevisionJob, facts: Facts) -> Decision:
        return self.recapture(job, facts) if _is_stale(job) else None

    def refuse_stale(self, job: RevisionJob, _facts: Facts) -> Decision:
        return Refuse(_STALE) if _is_stale(job) else None

    def until_captured(self, job: RevisionJob) -> Probe | None:
        return partial(_capture_progress, job)

    def until_captured_again(self, job: RevisionJob) -> Probe | None:
        return self.until_captured(job) if _is_stale(job) else None

    def afterwards(self, job: RevisionJob, _facts: Facts) -> Decision:
        body = job.goal.change.afterwards
        return Act(self._patch(job, body)) if body else None

    def check_start(self, job: RevisionJob, _facts: Facts) -> Decision:
        """Checks by a dry run that KubeVirt still accepts the VM; if not, its next start would fail."""
        change = job.goal.change
        if change.expected or change.annotations:
            return None

        def on_error(refusal: Refusal) -> str | None:
            if refusal.code == 422:
                job.goal.start_refusal = _NOT_STARTED.format(refusal)
            return None if refusal.code in (403, 422) else str(refusal)

        writes = self._patch(job, recapture.DRY_RUN_PATCH, dryRun="All")
        return Act(writes, on_error=on_error, is_change=False)

    def roll_back(self, job: RevisionJob, _facts: Facts) -> Decision:
        goal = job.goal
        if not goal.start_refusal:
            return None
        previous = recapture.state_before(goal.before, goal.change.matcher_fields, goal.change.spec)
        if previous is None:
            return Refuse(goal.start_refusal + _LOST)
        return Act(
            self._patch(job, recapture.rollback_patch(previous)),
            on_error=lambda error: f"{goal.start_refusal}; restoring the previous revisions failed: {error}",
        )

    def until_rolled_back(self, job: RevisionJob) -> Probe | None:
        return partial(_rollback_progress, job) if ROLL_BACK in job.done else None

    def unpin(self, job: RevisionJob, _facts: Facts) -> Decision:
        goal = job.goal
        previous = recapture.state_before(goal.before, goal.change.matcher_fields, goal.change.spec)
        rolled_back = ROLL_BACK in job.done
        pins = recapture.pins_to_remove(goal.before.vm, previous) if rolled_back and previous is not None else []
        failed = goal.start_refusal + _RESTORED
        return Act(self._patch(job, recapture.unpin_patch(pins)), on_error=lambda _error: failed) if pins else None

    def refuse_start(self, job: RevisionJob, _facts: Facts) -> Decision:
        return Refuse(job.goal.start_refusal + _RESTORED) if job.goal.start_refusal else None


def _not_rolled_back(job: RevisionJob, _failure: str) -> str | None:
    return job.goal.start_refusal + _RESTORED


def _undone(spec: Manifest, answer: Manifest) -> str:
    """The field of a matcher whose name the answer to a patch does not have; "" for none."""
    for matcher, part in spec.items():
        name = part.get("name") if isinstance(part, dict) else None
        if name and value_at(answer, ("spec", matcher, "name")) not in (None, name):
            return f"spec.{matcher}.name"
    return ""


def _fields_to_recapture(job: RevisionJob) -> list[MatcherField]:
    """The matcher fields whose references the task clears. Up to KubeVirt 1.4, a patch of the spec clears the rest."""
    change = job.goal.change
    return [field_ for field_ in change.matcher_fields if field_.name not in (change.spec or {})]


def _is_stale(job: RevisionJob) -> bool:
    return job.goal.change.recapture and bool(
        recapture.stale_fields(job.seen.live or {}, job.goal.before, _fields_to_recapture(job))
    )


def _capture_progress(job: RevisionJob, vm: Manifest | None) -> Progress:
    return state_until(lambda live: _has_captured(live, job.goal.change), vm, _CAPTURE)


def _has_captured(vm: Manifest, change: RevisionChange) -> bool:
    expected = change.expected or {}
    for matcher_field in change.matcher_fields:
        if not matcher_field.matcher_of(vm):
            continue  # the cluster's reference policy has expanded the VM
        name = recapture.captured_name(vm, matcher_field)
        if (
            name != expected[matcher_field.name]
            if matcher_field.name in expected
            else not is_captured(vm, matcher_field)
        ):
            return False
    return True


def _rollback_progress(job: RevisionJob, vm: Manifest | None) -> Progress:
    return state_until(lambda live: _is_rolled_back(live, job.goal), vm, _CAPTURE)


def _is_rolled_back(vm: Manifest, goal: Revision) -> bool:
    return all(
        matcher_field not in goal.change.matcher_fields or recapture.captured_name(vm, matcher_field) == part.revision
        for matcher_field, part in goal.before.parts.items()
    )
