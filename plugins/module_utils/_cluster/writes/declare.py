"""The path of every module that writes: declared objects → live snapshot → plan → preflight → writes → wait → jobs.

Check mode sends the writes as dry runs and stops there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from ..._resolver.api.errors import FieldError
from ..._resolver.api.finding import ERROR, WARNING, Finding
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.managed_fields import FieldPath
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.change.declared import NOT_PLANNED, DeclareJob
from ..._resolver.change.step import RETRY, Seen
from ..._resolver.declare import plan
from ..._resolver.declare.plan import Plan
from ..._resolver.ownership.writers import CREATED, REVERTED, WriterClaim, remedies, writer_claim, writer_of
from ..client.concurrency import map_concurrently, seconds_left
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.snapshot import ReadObjects, namespace_problem, read_objects
from ..task import UNKNOWN_IN_CHECK_MODE, Task
from .kind_handler import KindHandler
from .send import NOT_SENT, run_dry, run_writes


def declare(
    session: Session,
    handler: KindHandler,
    jobs: list[DeclareJob],
    task: Task,
    read: ReadObjects = read_objects,
) -> list[DeclareJob]:
    """Declares objects, and returns their jobs. read: reads the live objects.

    An invalid object stops the task before anything is sent, like an invalid option. An error of the cluster, such as a
    conflict or a missing permission, fails only its object, unless fail_fast is set.
    """
    if not _any_invalid(jobs):
        _read(session, handler, jobs, task, read)
    if _any_invalid(jobs):
        for job in jobs:
            # Nothing was compared with what is there.
            job.see(None)
            job.goal.skip_reason = None if job.failed else "not sent because other entries are invalid"
        return jobs
    planned = [job for job in jobs if _is_readable(job) and _plan_object(handler, job, task)]
    _preflight(handler, planned, task)
    _check_namespaces(session, jobs, task)
    handler.predict_effects([job for job in planned if not job.failed], task.check_mode)
    if task.check_mode:
        if task.server_dry_run:
            # A dry run would change what is being deleted, instead of creating anything.
            due = [job for job in jobs if _is_due(job) and job.goal.terminating is None]
            _dry_run(session, handler, due, task)
            _revise(session, handler, due, task)
        for job in jobs:
            job.goal.restart = job.goal.restart and job.failed is None
            job.acted = _would_change(job)
        return jobs
    created = [job for job in jobs if job.goal.action == plan.CREATE and _is_due(job)]
    _wait(session, handler, created, task, time.monotonic() + task.wait_timeout, created=True)
    if task.fail_fast and _any_failed(jobs):
        for job in jobs:
            job.failed = NOT_SENT.format("object") if _would_change(job) else job.failed
        return jobs
    due = [job for job in jobs if _is_due(job)]
    _write(session, handler, due, task)
    _revise(session, handler, due, task)
    deadline = time.monotonic() + task.wait_timeout
    for job in jobs:
        # Until here `restart` was a forecast; from here on it records what was done.
        job.goal.restart = False
    if task.fail_fast and _any_failed(jobs):
        return jobs
    handler.restart([job for job in planned if not job.failed], deadline)
    for job in jobs:
        job.acted = job.acted or _would_change(job)
    if task.wait:
        _wait(session, handler, filter(_is_readable, jobs), task, deadline)
    return jobs


def _would_change(job: DeclareJob) -> bool:
    return _is_due(job) or (job.failed is None and job.goal.restart)


def _is_due(job: DeclareJob) -> bool:
    return job.failed is None and (job.goal.action in plan.WRITES or bool(job.goal.related_changes))


def _any_invalid(jobs: Iterable[DeclareJob]) -> bool:
    return any(job.goal.problem for job in jobs)


def _any_failed(jobs: Iterable[DeclareJob]) -> bool:
    return any(job.failed for job in jobs)


def _grouped(jobs: Iterable[DeclareJob]) -> dict[tuple[str, str | None], dict[str, DeclareJob]]:
    """Jobs by kind and namespace, and there by name."""
    groups: dict[tuple[str, str | None], dict[str, DeclareJob]] = {}
    for job in jobs:
        key = job.key
        groups.setdefault((key.kind, key.namespace), {})[key.name] = job
    return groups


def _is_readable(job: DeclareJob) -> bool:
    return not (job.failed or job.goal.skip_reason)


def _read(session: Session, handler: KindHandler, jobs: list[DeclareJob], task: Task, read: ReadObjects) -> None:
    """Reads the live objects, and completes what is declared. If a namespace cannot be read, only its objects fail."""
    groups = [list(group.values()) for group in _grouped(jobs).values()]
    map_concurrently(lambda group: _read_group(session, handler, read, group), groups, task.concurrency)
    present = [job for job in jobs if _is_readable(job) and job.goal.state != "absent"]
    handler.complete(present, task.check_mode)


def _read_group(session: Session, handler: KindHandler, read: ReadObjects, group: list[DeclareJob]) -> None:
    """Sets the live objects of a kind and namespace, and shows the handler the others."""
    try:
        objects = read(session, [job.key for job in group])
    except RequestFailed as error:
        for job in group:
            job.failed = str(error)
        return
    own = {job.key for job in group}
    handler.see_others([item for key, item in objects.items() if key not in own])
    for job in group:
        live = objects.get(job.key)
        if live is not None and live["metadata"].get("deletionTimestamp"):
            # A write does not keep the object from disappearing.
            job.goal.terminating, live = live, None
        job.seen = job.before = Seen(live)


def _plan_object(handler: KindHandler, job: DeclareJob, task: Task) -> bool:
    """Plans an object, and says whether it has a plan. If the live object cannot be parsed, it has none."""
    live = job.seen.live
    try:
        step = handler.plan(job, task)
    except FieldError as error:
        job.failed = (
            f"cannot read the object in the cluster: {error}; if the cluster's KubeVirt is"
            " newer than this collection, upgrade the collection"
        )
        return False
    if job.goal.skip_reason:
        job.goal.plan = NOT_PLANNED._replace(action=plan.KEEP)
        return False
    job.goal.plan = step
    job.failed = step.refusal
    job.warnings += [_retained_warning(field, managers, live) for field, managers in step.retained]
    if live is not None and (warning := _writer_warning(live, step, handler.manager, task)):
        job.warn(warning)
        job.goal.of_change.append(warning)
    return True


def _writer_warning(live: Manifest, step: Plan, own: str, task: Task) -> str:
    """The warning of another writer that declares the object, and will revert the change or create the object again; ""
    without such a writer.
    """
    if step.action == plan.DELETE:
        writer = writer_of(live)
        return WriterClaim(writer).text(CREATED) if writer is not None else ""
    if step.refusal or (step.conflict and not task.force_conflicts):
        # The error says the same.
        return ""
    found = writer_claim(live, plan.changed_fields(step), own)
    return found.text(REVERTED) if found is not None else ""


def _retained_warning(field: FieldPath, managers: tuple[str, ...], live: Manifest | None) -> str:
    names = " and ".join(f'"{name}"' for name in managers)
    verb = "own" if len(managers) > 1 else "owns"
    return (
        f"{'.'.join(field)} is no longer declared but stays, because {names} {verb} the field too; to remove it, set"
        f" {remedies(managers, live)}"
    )


def _preflight(handler: KindHandler, planned: list[DeclareJob], task: Task) -> None:
    if task.preflight == "off":
        return
    checked = [job for job in planned if job.goal.action in plan.WRITES]
    findings = handler.check(checked) if checked else {}
    for job in checked:
        conflict = [] if job.goal.plan.conflict is None else [Finding(job.goal.plan.conflict)]
        apply_findings(job, [*conflict, *findings.get(job, [])], task)


def _check_namespaces(session: Session, jobs: list[DeclareJob], task: Task) -> None:
    """Judges deletions from namespaces that do not exist: a misspelt namespace must not pass for an empty one."""
    if task.preflight == "off":
        return
    namespaces = {job.key.namespace for job in jobs}
    # This asks only where nothing was found, and costs no request where there is something to delete.
    there = [job for job in jobs if job.before.live is not None or job.goal.terminating is not None]
    for namespace in namespaces - {""} - {job.key.namespace for job in there}:
        due = [job for job in jobs if job.key.namespace == namespace and job.goal.state == "absent" and not job.failed]
        if due and (problem := namespace_problem(session, str(namespace))):
            for job in due:
                apply_findings(job, [Finding(problem, missing=True)], task)


def apply_findings(job: DeclareJob, findings: list[Finding], task: Task) -> None:
    """Fails an job because of its findings, or turns them into warnings, as the option `preflight` says."""
    if task.check_mode:
        # An earlier task of the play might create a missing object.
        job.incomplete = job.incomplete or any(finding.missing for finding in findings)
        findings = [
            Finding(f"{finding.line}; {UNKNOWN_IN_CHECK_MODE}", WARNING) if finding.missing else finding
            for finding in findings
        ]
    refused = [found.line for found in findings if found.severity == ERROR and task.preflight == "strict"]
    if refused:
        job.failed = "; ".join(refused)
    else:
        for finding in findings:
            job.warn(finding.line)
        job.goal.of_change += [finding.line for finding in findings]


def _write(session: Session, handler: KindHandler, jobs: list[DeclareJob], task: Task) -> None:
    def write(job: DeclareJob) -> None:
        handler.write(session, job, task)
        # Only the write needs these: half of the memory of each of thousands of objects.
        job.goal.plan = job.goal.plan._replace(manifest={}, merge_patch={}, fields={})
        for manifest in (job.before.live or {}, job.seen.live or {}):
            manifest.get("metadata", {}).pop("managedFields", None)

    run_writes(jobs, write, task)


def _dry_run(session: Session, handler: KindHandler, jobs: list[DeclareJob], task: Task) -> None:
    """Sends the planned writes as dry runs and records what the API server rejects."""
    dry_run_only = session.dry_run_session()

    def dry_run(job: DeclareJob) -> None:
        run_dry(job, lambda _outcome: handler.write(dry_run_only, job, task))

    map_concurrently(dry_run, jobs, task.concurrency)


def _revise(session: Session, handler: KindHandler, jobs: list[DeclareJob], task: Task) -> None:
    """Brings effects and warnings in line with what the API server has answered."""
    revised = [job for job in jobs if job.goal.answer is not None and not job.failed]
    if not revised:
        return
    from ..reads.admission import Mutators

    mutators = Mutators(session)
    for job in revised:
        if job.goal.action == plan.NONE:
            job.warnings = [text for text in job.warnings if text not in job.goal.of_change]
        for deviation in job.goal.deviations:
            key = job.key
            job.warn(deviation.told("" if deviation.manager else mutators.of(KINDS[key.kind], key.namespace)))
    handler.revise(revised, task.check_mode)
    for job in revised:
        job.goal.answer = None


def _wait(
    session: Session,
    handler: KindHandler,
    jobs: Iterable[DeclareJob],
    task: Task,
    deadline: float,
    *,
    created: bool = False,
) -> None:
    """Waits for objects, one watch for each kind and namespace, then for the dependents of deleted objects.

    created: the objects are to be created. Then the wait is for objects of their names that are being deleted: a VM
    stays until its guest has shut down.
    """
    groups = _grouped(jobs)
    if not groups:
        return
    from ..reads.watch import WATCHES, wait_for

    seconds = seconds_left(deadline)

    def wait(group: tuple[str, str | None]) -> None:
        members = groups[group]

        def probe(name: str, live: Manifest | None) -> Progress:
            job = members[name]
            if created or job.goal.state == "absent":
                pending = "the deletion of the existing object" if created else "the object to disappear"
                return Progress(done=_is_gone(job, live), pending=pending)
            return handler.probe(live, job.before.live if job.written or RETRY in job.done else None)

        kind, namespace = KINDS[group[0]], group[1]
        watched = [name for name, job in members.items() if job.goal.terminating is not None or not created]
        waited = (
            wait_for(session, kind, namespace, watched, probe, seconds, deadline, metadata_only=created)
            if watched
            else {}
        )
        for name, (live, failure) in waited.items():
            job = members[name]
            job.failed = failure
            if not created:
                job.see(live)
                if live and not failure and (warning := handler.probe(live, None).warning):
                    job.warn(warning)
        ended = [
            job.goal.manifest if created else job.before.live or {}
            for job in members.values()
            if not job.failed and (created or job.goal.action == plan.DELETE)
        ]
        if ended:
            left = seconds_left(deadline)
            for name, failure in handler.await_dependents(namespace, ended, left, created=created).items():
                members[name].failed = failure

    map_concurrently(wait, groups, task.concurrency if created else WATCHES)


def _is_gone(job: DeclareJob, live: Manifest | None) -> bool:
    """Whether the deleted object no longer exists. Another object may have its name."""
    before = job.before.live or job.goal.terminating
    return live is None or before is None or live["metadata"].get("uid") != before["metadata"].get("uid")
