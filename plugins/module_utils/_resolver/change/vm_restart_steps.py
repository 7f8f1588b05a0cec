"""The steps that restart the guests of declared VMs.

KubeVirt decides whether a VM needs a restart, once it has compared the change with the guest. An unchanged VM that
needs a restart because of an earlier change is restarted too, even if virt-controller has not looked at that change
yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..guest.arrival import plugged_figures
from ..kubevirt.vm.readiness import has_guest, may_lack_changes
from .arrival_steps import arrival_step
from .declared import DeclareJob
from .guest import Guest, warn_of_condition
from .guest_steps import GuestSteps
from .step import REQUEST, RETRY, Decision, Facts, Seen, Step
from .vm_restarts import (
    awaits_controller,
    guest_of,
    keeps_condition,
    may_restart,
    needs_restart,
    note_restart,
    retry_act,
)


def restart_steps(field_manager: str, *, permitted: bool, waits: bool) -> tuple[Step, ...]:
    """The steps that restart guests, and wait until they run again.

    permitted: restart guests; else only wait for KubeVirt's decision. waits: the task waits for VMs, and for what their
    guests get without a restart; virt-controller then tries again what has failed before.
    """
    restarts = _Restarts(GuestSteps(lambda job: restarts.guests[job], field_manager), permitted)
    retry = Step(RETRY, lambda job, _facts: retry_act(job, field_manager))
    waiting = (retry, arrival_step(_live_figures)) if waits else ()
    return (*restarts.decide(), *(restarts.carry_out() if permitted else ()), *waiting)


def _live_figures(job: DeclareJob) -> Mapping[str, Any] | None:
    """The figures that the guest of a declared VM gets live; None for one that is new, or is to go."""
    is_kept = job.goal.state != "absent" and REQUEST not in job.done
    return plugged_figures(job.goal.effect) if is_kept and has_guest(job.seen.live or {}) else None


class _Restarts:
    """The restarts of a task. guests: the guests of its VMs."""

    def __init__(self, steps: GuestSteps, permitted: bool) -> None:
        self._steps, self._permitted = steps, permitted
        self.guests: dict[DeclareJob, Guest] = {}
        self._before: dict[DeclareJob, Seen] = {}
        self._due: set[DeclareJob] = set()

    def decide(self) -> tuple[Step, ...]:
        """The steps until KubeVirt has looked at the changes."""
        return (
            Step("guest", self._note_guest),
            self._steps.observe.only(awaits_controller)._replace(waits=True, afresh=True),
        )

    def carry_out(self) -> tuple[Step, ...]:
        """The steps that restart the guests which lack something."""
        first, *others = (step.only(self._is_due)._replace(waits=True) for step in self._steps.restart)
        compare = self._steps.compare
        steps = (
            compare.only(lambda job: may_restart(job) or keeps_condition(job)),
            Step("due", self._note_due).only(self._is_compared),
            # Restarted guests get the full wait, even if a VM that virt-controller ignored has used up the time.
            first._replace(full_wait=True),
            *others,
        )
        # A guest that has restarted does not fail because nobody can look at it.
        again = compare._replace(name="compare again", afresh=True, unread=lambda _job, _failure: None)
        return (
            *(step._replace(problem="the restart failed: ") for step in steps),
            Step("restarted", self._note_restarted).only(self._is_compared),
            again.only(lambda job: self._is_due(job) and may_lack_changes(job.seen.live or {}, unrequested=True)),
            Step("current", self._warn_of_condition).only(self._is_compared),
        )

    def _is_due(self, job: DeclareJob) -> bool:
        return job in self._due

    def _is_compared(self, job: DeclareJob) -> bool:
        return job in self.guests and self.guests[job].effect is not None

    def _note_guest(self, job: DeclareJob, _facts: Facts) -> Decision:
        if job.seen.live is not None:
            self.guests[job], self._before[job] = guest_of(job, self._permitted), job.before
        return None

    def _note_due(self, job: DeclareJob, _facts: Facts) -> Decision:
        if needs_restart(job, self.guests[job]):
            self._due.add(job)
        return None

    def _note_restarted(self, job: DeclareJob, _facts: Facts) -> Decision:
        self.guests[job].effect = None
        job.before, job.seen = self._before[job], Seen(job.seen.live)
        if self._is_due(job):
            note_restart(job)
        return None

    def _warn_of_condition(self, job: DeclareJob, _facts: Facts) -> Decision:
        effect = self.guests[job].effect
        if effect is not None and effect.restart_superfluous:
            warn_of_condition(job, job.seen.live or {})
        job.seen = Seen(job.seen.live)
        return None
