"""The write of a declared object: what is sent for a plan, and what the answer says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..api import managed_fields
from ..api.errors import Cause, FieldError
from ..api.kinds import KINDS
from ..api.managed_fields import FieldPath
from ..api.manifest import Manifest
from ..api.tree import set_at
from ..api.write import Write, apply, delete, json_patch, merge_patch
from ..declare import plan
from ..declare.plan import Plan
from .declared import DeclareJob, Ownership
from .step import Act, Refusal, Seen


class DeclaredWrite:
    """Decides for a planned job what to send, and notes the answer. rest: see `DeclaredKind`."""

    def __init__(
        self, ownership: Ownership, rest: Callable[[Manifest, Manifest, str], Plan], *, check_mode: bool
    ) -> None:
        self._ownership, self._rest, self._check_mode = ownership, rest, check_mode

    def decide(self, job: DeclareJob) -> Act | list[Act]:
        """Takes fields over, patches and applies an object that is to be written, or deletes it."""
        planned, live = job.goal.plan, job.before.live
        uid = live["metadata"].get("uid") if live is not None else None
        if planned.action == plan.DELETE:
            write = delete(job.key.path, uid)
            return Act((write,), (write,), may_be_found=True, answered=partial(self._deleted, job))
        # The UID binds the apply to the live object: without it, an apply would create a deleted object anew, while its
        # revisions still wait for the garbage collector.
        own = {"metadata": {**planned.manifest["metadata"], "uid": uid}} if uid else {}
        manifest = {**planned.manifest, **own}
        applied = partial(apply, job.key.path, manifest, self._ownership.manager)
        acts = []
        dry_run: tuple[Write, ...] = (applied(self._ownership.force),)
        if planned.taken_from and live is not None:
            acts.append(self._taking_over(job, live))
        if planned.merge_patch:
            acts.append(Act((self._patch(job, planned.merge_patch),)))
        if planned.taken_from or planned.merge_patch:
            # The apply depends on patches that a dry run does not store: one patch has all that they would change.
            fields = plan.patched_fields(planned, live or {})
            dry_run = (self._patch(job, fields),) if fields else ()
        if job.goal.terminating is not None:
            # A dry run would change what is being deleted, instead of creating anything.
            dry_run = ()

        def forced(refusal: Refusal) -> Write | None:
            conflict = refusal.code == 409 and bool(refusal.causes)
            may_take = conflict and all(self._may_take(cause, live or {}) for cause in refusal.causes)
            return applied(True) if may_take else None

        write = applied(self._ownership.force)
        note = partial(self._answered, job, job.written, job.acted)
        return [*acts, Act((write,), dry_run, instead=forced, answered=note)]

    def _patch(self, job: DeclareJob, fields: Mapping[FieldPath, Any]) -> Write:
        """A merge patch that sets fields, or removes fields whose value is None."""
        patch: Manifest = {}
        for path, value in fields.items():
            set_at(patch, path, value)
        return merge_patch(job.key.path, patch, fieldManager=self._ownership.manager)

    def _taking_over(self, job: DeclareJob, live: Manifest) -> Act:
        """Transfers the fields of other managers to the task's manager."""
        from ..ownership.take_over import patch as taking_over

        planned, manager = job.goal.plan, self._ownership.manager
        typed = {**live, "apiVersion": KINDS[job.key.kind].api_version}
        operations = taking_over(typed, planned.fields, manager, planned.taken_from)
        write = json_patch(job.key.path, operations, fieldManager=manager)
        return Act((write,), (write,), again=lambda now: None if now is None else self._taking_over(job, now))

    def _may_take(self, cause: Cause, live: Manifest) -> bool:
        """Whether the task takes a field without force_conflicts.

        That is the case if its manager set it by another request than an apply, or if KubeVirt wrote it by itself, as
        virt-api does after a start or stop. live: the object before.
        """
        manager = cause.message.partition('"')[2].partition('"')[0]
        path = tuple(cause.field.removeprefix(".").split("."))
        if manager == self._ownership.manager:
            return True
        # Only a conflict needs it.
        from ..declare.rewrites import taken_back

        return taken_back(manager, path, live)

    def _deleted(self, job: DeclareJob, _answer: Manifest | None) -> bool:
        if not self._check_mode:
            job.see(None)
            _drop_written(job)
        return True

    def _answered(self, job: DeclareJob, written: bool, acted: bool, answer: Manifest | None) -> bool:
        """Notes the outcome of the plan, by the answer to the apply or its dry run. Returns whether the object changes.

        written, acted: the job's values before this write.
        """
        # Only an object that is written needs it.
        from ..declare.answer import Answered, answered

        goal, planned, live = job.goal, job.goal.plan, answer or {}
        try:
            rest = partial(self._rest, goal.manifest, live, self._ownership.manager)
            turned = answered(planned, job.before.live, live, rest, self._ownership.manager)
        except FieldError:
            # The cluster's KubeVirt is newer than this collection.
            turned = Answered(planned, live)
        goal.plan, goal.deviations = turned.plan, turned.deviations
        if turned.plan is not planned or turned.deviations:
            # Only the effect of a change needs it.
            goal.answer = live if turned.plan.action == plan.APPLY else {}
        changes = turned.plan.action != plan.NONE
        if self._check_mode:
            return changes
        job.see(turned.live)
        if planned.taken_from:
            goal.owners = _owners(live, self._ownership.manager)
        _drop_written(job)
        if not changes:
            job.written, job.acted = written, acted
        return changes


def _drop_written(job: DeclareJob) -> None:
    """Drops what only the write needs: half of the memory of each of thousands of objects."""
    job.goal.plan = job.goal.plan._replace(manifest={}, merge_patch={}, fields={})
    for manifest in (job.before.live or {}, job.seen.live or {}):
        manifest.get("metadata", {}).pop("managedFields", None)
    if job.goal.answer is None:
        job.seen = Seen(job.seen.live)


def _owners(live: Manifest, own: str) -> dict[str, list[str]]:
    """The fields of an object that other managers own, by manager."""
    owners: dict[str, list[str]] = {}
    for manager, fields in managed_fields.fields_of_others(live, own):
        owners.setdefault(manager, []).extend(sorted(".".join(path) for path in fields))
    return owners
