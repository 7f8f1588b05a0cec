"""The steps by which declared objects become what they are to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from ..api import managed_fields
from ..api.errors import FieldError
from ..api.finding import Finding
from ..api.kinds import KINDS, Kind
from ..api.managed_fields import FieldPath
from ..api.manifest import Manifest, Progress
from ..declare import plan
from ..declare.plan import Plan
from .declared import APPLY, NOT_PLANNED, DeclareJob, Ownership, is_written, judge, stop_if_invalid
from .step import NOT_SENT, RETRY, Decision, Facts, Probe, Seen, Step

if TYPE_CHECKING:
    from .declared_write import DeclaredWrite

_UNREADABLE: Final = (
    "cannot read the object in the cluster: {}; if the cluster's KubeVirt is newer than this collection, upgrade the"
    " collection"
)
_RETAINED: Final = "{} is no longer declared but stays, because {} {} the field too; to remove it, set {}"


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
    """How a kind of objects is declared: its rules, and its steps in addition to the common ones.

    plan: the plan for a job. If it sets the job's `skip_reason`, the object stays unchanged. Raises FieldError if the
    live object cannot be parsed.
    rest: (manifest, live object, field manager) → the plan for what the object still lacks after the write.
    probe: (object, object before a write that its controller may not have seen) → the state of the object.
    listed: gets the other objects that were listed with the declared ones.
    facts: what the steps look up; None: each step looks anew.

    The steps, in this order:
    complete: complete the objects that are to be present by the state of the cluster.
    checks: note findings about objects to be written or deleted.
    forecast: predict the effects of the changes.
    cleared: wait until earlier objects of the same names are gone entirely.
    before, after: before and after an object is written.
    revise: predict the effects again for objects whose answer is not as planned.
    foreseen: end check mode.
    restart: bring running guests up to date.
    gone: wait for what goes with deleted objects.
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
            job.warn(deviation.line(cause))
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
        return self._write.decide(job) if job.goal.action in plan.WRITES else None

    @cached_property
    def _write(self) -> DeclaredWrite:
        # Only an object that is written needs it.
        from .declared_write import DeclaredWrite

        return DeclaredWrite(self._ownership, self._kind.rest, check_mode=self._check_mode)

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
