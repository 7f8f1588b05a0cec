"""Declared objects, jobs, and the hooks in which kinds differ."""

from __future__ import annotations

from ..._resolver.api import managed_fields
from ..._resolver.api.errors import FieldError
from ..._resolver.api.keys import FIELD_MANAGER
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.change.declared import DeclareJob, Findings
from ..._resolver.declare import plan
from ..._resolver.declare.answer import Answered, answered
from ..._resolver.declare.plan import Plan
from ..client.session import Session
from ..task import Task
from .plan_writes import send_plan


class KindHandler:
    """Hooks for the kinds of objects; a kind overrides those that it needs. Lists in and out have the same order.

    manager: the field manager of the declared fields.
    """

    manager = FIELD_MANAGER

    def see_others(self, objects: list[Manifest]) -> None:
        """Notes what is needed of other objects, which were listed with the declared ones of a namespace."""

    def complete(self, jobs: list[DeclareJob], check_mode: bool) -> None:
        """Completes the objects that are to be present by what the cluster has. May raise TaskFailed."""

    def plan(self, job: DeclareJob, task: Task) -> Plan:
        """Plans the write for a declared object. If it sets a `skip_reason`, the object stays unchanged.

        Raises FieldError if the live object cannot be parsed.
        """
        declared, live = job.goal, job.seen.live
        if declared.state == "absent":
            return plan.absent(declared.manifest, live)
        owned = managed_fields.applied_fields(live, self.manager) if live is not None else None
        return plan.present(declared.manifest, live, owned, self.manager, task.force_conflicts, task.take_over)

    def check(self, planned: list[DeclareJob]) -> Findings:
        """Findings about objects to be written or deleted."""
        return {}

    def predict_effects(self, planned: list[DeclareJob], check_mode: bool) -> None:
        """Sets the effects of planned changes, whether the task will restart the objects, and what outlives deleted
        ones; and adds warnings."""

    def write(self, session: Session, job: DeclareJob, task: Task) -> None:
        """Carries out the plan of an job; as dry runs, if the session sends such. May raise RequestFailed."""
        if job.goal.action not in plan.WRITES:
            return
        key, step, before, written = job.key, job.goal.plan, job.before.live, job.written
        answer = None
        for answer in send_plan(session, key, step, before, task.force_conflicts):
            if not session.is_dry_run:
                job.see(answer)
                job.written = job.acted = True
        if answer is None or answer is before:
            return
        turned = self._answered(job, answer)
        job.goal.plan, job.goal.deviations = turned.plan, turned.deviations
        if turned.plan is not step or turned.deviations:
            # Only the effect of a change needs it.
            job.goal.answer = answer if turned.plan.action == plan.APPLY else {}
        if session.is_dry_run:
            return
        job.see(turned.live)
        job.written = job.acted = written or turned.plan.action != plan.NONE
        if step.taken_from:
            job.goal.owners = _owners(answer, session.field_manager)

    def _answered(self, job: DeclareJob, answer: Manifest) -> Answered:
        """The plan of an job as it turned out, by the answer to the apply or to its dry run."""
        step = job.goal.plan
        try:
            rest = self.rest(job.goal.manifest, answer)
            return answered(step, job.before.live, answer, rest, self.manager)
        except FieldError:
            # The cluster's KubeVirt is newer than this collection.
            return Answered(step, answer)

    def rest(self, manifest: Manifest, live: Manifest) -> Plan:
        """The plan for what a declaration still lacks in an object after the write."""
        return plan.present(manifest, live, managed_fields.applied_fields(live, self.manager), self.manager)

    def revise(self, jobs: list[DeclareJob], check_mode: bool) -> None:
        """Sets effects anew for jobs whose answer is not as planned."""

    def restart(self, jobs: list[DeclareJob], deadline: float) -> None:
        """Restarts the objects that need it after the writes, until a deadline, and makes the controllers of unchanged
        objects try again.
        """

    def probe(self, live: Manifest | None, before: Manifest | None) -> Progress:
        """The state of a declared object. before: the object before a write that its controller may not have seen."""
        return Progress(done=True)

    def await_dependents(
        self, namespace: str | None, objects: list[Manifest], timeout: float, *, created: bool
    ) -> dict[str, str]:
        """Waits for the dependents of objects that were deleted in a namespace. created: the objects are to be created,
        and objects with their names were deleted earlier. Returns the failures by object name.
        """
        return {}


def _owners(live: Manifest, own: str) -> dict[str, list[str]]:
    """The fields of an object that other managers own, by manager."""
    owners: dict[str, list[str]] = {}
    for manager, fields in managed_fields.fields_of_others(live, own):
        owners.setdefault(manager, []).extend(sorted(".".join(path) for path in fields))
    return owners
