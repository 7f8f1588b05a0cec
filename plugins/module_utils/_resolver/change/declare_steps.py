"""The steps by which declared objects become what they are to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from ..api import managed_fields
from ..api.errors import Cause, FieldError
from ..api.finding import Finding
from ..api.keys import FIELD_MANAGER
from ..api.kinds import KINDS, Kind
from ..api.managed_fields import FieldPath, TakeOver, keep_managers
from ..api.manifest import Manifest, Progress
from ..api.tree import set_at
from ..api.write import Write, apply, delete, json_patch, merge_patch
from ..declare import plan
from ..declare.plan import Plan
from .declared import APPLY, NOT_PLANNED, DeclareJob, is_written, judge, stop_if_invalid
from .step import NOT_SENT, RETRY, Act, Decision, Facts, Probe, Refusal, Seen, Step

_UNREADABLE: Final = (
    "cannot read the object in the cluster: {}; if the cluster's KubeVirt is newer than this collection, upgrade the"
    " collection"
)
_RETAINED: Final = "{} is no longer declared but stays, because {} {} the field too; to remove it, set {}"


class Ownership(NamedTuple):
    """How a task deals with other field managers.

    manager: that of the task. force: take fields from others. take_over: whether to take over a manager's share.
    """

    manager: str = FIELD_MANAGER
    force: bool = False
    take_over: TakeOver = keep_managers


def plan_object(job: DeclareJob, ownership: Ownership) -> Plan:
    """The plan for any object."""
    declared, live = job.goal, job.seen.live
    if declared.state == "absent":
        return plan.absent(declared.manifest, live)
    owned = managed_fields.applied_fields(live, ownership.manager) if live is not None else None
    return plan.present(declared.manifest, live, owned, *ownership)


def _rest(manifest: Manifest, live: Manifest, manager: str) -> Plan:
    return plan.present(manifest, live, managed_fields.applied_fields(live, manager), manager)


def _exists(_live: Manifest | None, _before: Manifest | None) -> Progress:
    return Progress(done=True)


class DeclaredKind(NamedTuple):
    """How a kind of objects is declared: its rules, and its steps beside those of every object.

    plan: the plan for a job. If it sets the job's `skip_reason`, the object stays unchanged. Raises FieldError if the
    live object cannot be parsed. rest: the plan for what a declaration still lacks in an object after the write, by its
    manifest, the object and the field manager. probe: the state of a declared object, by the object and that before a
    write that its controller may not have seen. listed: gets the other objects that were listed with the declared ones.
    The steps come in this order. complete: complete objects that are to be present by what the cluster has. checks:
    note findings about objects to be written or deleted. forecast: what the changes do. cleared: wait for what is left
    of earlier objects of the names. before, after: before and after an object is written. revise: the forecast for
    objects whose answer is not as planned. foreseen: the end of check mode. restart: what is left to do with what was
    declared. gone: wait for what goes with deleted objects.
    facts: what the steps look up; None: each step looks anew.
    """

    plan: Callable[[DeclareJob, Ownership], Plan] = plan_object
    rest: Callable[[Manifest, Manifest, str], Plan] = _rest
    probe: Callable[[Manifest | None, Manifest | None], Progress] = _exists
    listed: Callable[[list[Manifest]], None] = lambda _objects: None
    complete: tuple[Step, ...] = ()
    checks: tuple[Step, ...] = ()
    forecast: tuple[Step, ...] = ()
    cleared: tuple[Step, ...] = ()
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    revise: tuple[Step, ...] = ()
    foreseen: tuple[Step, ...] = ()
    restart: tuple[Step, ...] = ()
    gone: tuple[Step, ...] = ()
    facts: Facts | None = None


ANY_KIND: Final = DeclaredKind()


class DeclareSteps:
    """The steps for objects of a kind.

    preflight: `strict`, `warn` or `off`. namespace_problem: the message about a namespace that does not exist; "" if it
    exists. mutators: what may change objects of a kind and namespace that are written, in words.
    """

    def __init__(
        self,
        kind: DeclaredKind,
        ownership: Ownership,
        preflight: str,
        namespace_problem: Callable[[str], str],
        mutators: Callable[[Kind, str], str],
        *,
        fail_fast: bool,
        check_mode: bool,
    ) -> None:
        self._kind, self._ownership = kind, ownership
        self._preflight, self._fail_fast, self._check_mode = preflight, fail_fast, check_mode
        self._namespace_problem, self._mutators = namespace_problem, mutators

    def steps(self) -> tuple[Step, ...]:
        """All steps, in order."""
        return (*self._decide_all(), *self._write_all(), *(self._kind.foreseen if self._check_mode else self._finish()))

    def _decide_all(self) -> tuple[Step, ...]:
        kind = self._kind
        read = Step("read", self._note_read, _own_kind, listed=kind.listed, stop=stop_if_invalid)
        complete = (step.only(lambda job: job.goal.state != "absent") for step in kind.complete)
        judge = (
            *(step.only(_is_write) for step in kind.checks),
            Step("judge", self._judge, takes=_is_write),
            Step("namespaces", prepare=self._judge_namespaces, takes=lambda job: bool(job.key.namespace)),
        )
        return (
            read,
            *complete,
            Step("plan", self._plan, stop=stop_if_invalid),
            *(judge if self._preflight != "off" else ()),
            *kind.forecast,
        )

    def _write_all(self) -> tuple[Step, ...]:
        """The steps that write, once all objects are decided."""
        kind = self._kind
        # A VM stays until its guest has shut down. A write may have to wait although the task does not.
        gone = Step("gone", until=self._until_gone, metadata_only=True)
        cleared = (step.only(_is_created)._replace(waits=True) for step in (gone, *kind.cleared))
        written = (*kind.before, Step(APPLY, self._apply), *kind.after)
        revise = (
            Step("answer", self._note_answer),
            *(step.only(lambda job: job.before.live is not None) for step in kind.revise),
            Step("answered", _drop_answer),
        )
        return (
            *cleared,
            Step("decided", stop=self._stop_undone, full_wait=True),
            *(step.only(lambda job: job.goal.is_due)._replace(waits=True) for step in written),
            *(step.only(lambda job: job.goal.answer is not None) for step in revise),
        )

    def _finish(self) -> tuple[Step, ...]:
        return (
            Step("written", stop=self._is_stopped, full_wait=True),
            *self._kind.restart,
            Step("ready", until=self._until_ready),
            *self._kind.gone,
            Step("unfinished", self._warn_of_unfinished),
        )

    def _is_stopped(self, jobs: Sequence[DeclareJob]) -> bool:
        return self._fail_fast and any(job.failed for job in jobs)

    def _stop_undone(self, jobs: Sequence[DeclareJob]) -> bool:
        """Whether the run ends before anything is written."""
        if not self._is_stopped(jobs):
            return False
        for job in jobs:
            would_change = job.goes_on and (job.goal.is_due or job.goal.restarts)
            job.failed = NOT_SENT.format("object") if would_change else job.failed
        return True

    def _note_read(self, job: DeclareJob, _facts: Facts) -> Decision:
        live = job.seen.live
        if live is not None and live["metadata"].get("deletionTimestamp"):
            # A write does not keep the object from disappearing.
            job.goal.terminating, live = live, None
        job.seen = job.before = Seen(live)
        return None

    def _judge_namespaces(self, jobs: Sequence[DeclareJob], _facts: Facts) -> None:
        """Judges deletions from namespaces that do not exist: a misspelt namespace must not pass for an empty one."""
        # This asks only where nothing was found, and costs no request where there is something to delete.
        there = {job.key.namespace for job in jobs if job.before.live is not None or job.goal.terminating is not None}
        absent = [job for job in jobs if job.key.namespace not in there and job.goal.state == "absent"]
        problems = {
            namespace: self._namespace_problem(namespace) for namespace in {job.key.namespace for job in absent}
        }
        for job in absent:
            if problem := problems[job.key.namespace]:
                judge(job, [Finding(problem, missing=True)], self._preflight, self._check_mode)

    def _note_answer(self, job: DeclareJob, _facts: Facts) -> Decision:
        """Brings the warnings in line with what the API server has answered."""
        if job.goal.action == plan.NONE:
            job.warnings = [text for text in job.warnings if text not in job.goal.of_change]
        for deviation in job.goal.deviations:
            cause = "" if deviation.manager else self._mutators(KINDS[job.key.kind], job.key.namespace)
            job.warn(deviation.told(cause))
        return None

    def _plan(self, job: DeclareJob, _facts: Facts) -> Decision:
        goal, live = job.goal, job.seen.live
        try:
            planned = self._kind.plan(job, self._ownership)
        except FieldError as error:
            job.failed = _UNREADABLE.format(error)
            return None
        if job.skip_reason:
            goal.plan = NOT_PLANNED._replace(action=plan.KEEP)
            return None
        goal.plan, job.failed = planned, planned.refusal
        job.warnings += [_retained_text(path, managers, live) for path, managers in planned.retained]
        if live is not None and planned.action in plan.WRITES and (text := self._warning_of_writer(live, planned)):
            job.warn(text)
            goal.of_change.append(text)
        return None

    def _warning_of_writer(self, live: Manifest, planned: Plan) -> str:
        """The warning of another writer that declares the object, and will revert the change or create the object
        again; "" without such a writer.
        """
        # Only an object that changes needs it.
        from ..ownership.writers import CREATED, REVERTED, WriterClaim, writer_claim, writer_of

        if planned.action == plan.DELETE:
            writer = writer_of(live)
            return WriterClaim(writer).text(CREATED) if writer is not None else ""
        if planned.refusal or (planned.conflict and not self._ownership.force):
            # The error says the same.
            return ""
        found = writer_claim(live, plan.changed_fields(planned), self._ownership.manager)
        return found.text(REVERTED) if found is not None else ""

    def _judge(self, job: DeclareJob, _facts: Facts) -> Decision:
        """Judges the findings about an object that is to be written."""
        findings, job.goal.findings = job.goal.findings, []
        conflict = job.goal.plan.conflict
        judge(job, [*([] if conflict is None else [Finding(conflict)]), *findings], self._preflight, self._check_mode)
        job.goal.admission = None if job.failed else job.goal.admission
        return None

    def _until_gone(self, job: DeclareJob) -> Probe | None:
        return partial(_gone, job, "the deletion of the existing object") if job.goal.terminating is not None else None

    def _apply(self, job: DeclareJob, _facts: Facts) -> Decision:
        """Takes fields over, patches and applies an object, or deletes it."""
        planned, live = job.goal.plan, job.before.live
        if planned.action not in plan.WRITES:
            return None
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
        """A merge patch that sets fields, or removes those that are None."""
        patch: Manifest = {}
        for path, value in fields.items():
            set_at(patch, path, value)
        return merge_patch(job.key.path, patch, fieldManager=self._ownership.manager)

    def _taking_over(self, job: DeclareJob, live: Manifest) -> Act:
        """Transfers the fields of other managers to that of the task."""
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
        """Notes how the plan turned out, by the answer to the apply or to its dry run. Whether the object changes.

        written, acted: those of the job before.
        """
        # Only an object that is written needs it.
        from ..declare.answer import Answered, answered

        goal, planned, live = job.goal, job.goal.plan, answer or {}
        try:
            rest = partial(self._kind.rest, goal.manifest, live, self._ownership.manager)
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

    def _until_ready(self, job: DeclareJob) -> Probe:
        if job.goal.state == "absent":
            return partial(_gone, job, "the object to disappear")
        before = job.before.live if is_written(job) or RETRY in job.done else None
        return lambda live: self._kind.probe(live, before)

    def _warn_of_unfinished(self, job: DeclareJob, _facts: Facts) -> Decision:
        if job.seen.live is not None and (warning := self._kind.probe(job.seen.live, None).warning):
            job.warn(warning)
        return None


def _own_kind(job: DeclareJob) -> tuple[Kind, ...]:
    return (KINDS[job.key.kind],)


def _is_write(job: DeclareJob) -> bool:
    return job.goal.action in plan.WRITES


def _is_created(job: DeclareJob) -> bool:
    return job.goal.action == plan.CREATE


def _drop_answer(job: DeclareJob, _facts: Facts) -> Decision:
    job.goal.answer, job.seen = None, Seen(job.seen.live)
    return None


def _retained_text(path: FieldPath, managers: Sequence[str], live: Manifest | None) -> str:
    """The warning of a field that stays because other managers own it."""
    from ..ownership.writers import remedies

    names, verb = " and ".join(f'"{name}"' for name in managers), "own" if len(managers) > 1 else "owns"
    return _RETAINED.format(".".join(path), names, verb, remedies(managers, live))


def _gone(job: DeclareJob, pending: str, live: Manifest | None) -> Progress:
    """Whether the object of before no longer exists. Another object may have its name."""
    before = job.before.live or job.goal.terminating
    gone = live is None or before is None or live["metadata"].get("uid") != before["metadata"].get("uid")
    return Progress(done=gone, pending=pending)


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
