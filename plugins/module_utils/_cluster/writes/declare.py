"""The path of every module that declares objects: live snapshot → plan → preflight → writes → wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..._resolver.api.finding import Finding
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..._resolver.change.declare_steps import DeclareSteps, Ownership, Rules
from ..._resolver.change.declared import DeclareJob, judge
from ..._resolver.change.step import Seen, Step
from ..._resolver.declare import plan
from ..client.concurrency import map_concurrently, seconds_left
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.snapshot import ReadObjects, namespace_problem, read_objects
from ..task import Task
from .engine import run
from .send import NOT_SENT

if TYPE_CHECKING:
    from ..reads.lookup import ClusterLookup

Dependents = Callable[[Sequence[DeclareJob], float], Mapping[DeclareJob, str]]
"""Waits for what belongs to objects until it is gone, these seconds at most. Returns the failures."""


def no_dependents(_jobs: Sequence[DeclareJob], _seconds: float) -> Mapping[DeclareJob, str]:
    return {}


class DeclaredKind(NamedTuple):
    """What a kind of objects adds to their declaration.

    see_others: takes the other objects that were listed with the declared ones. complete: completes the objects that
    are to be present by what the cluster has; it may raise TaskFailed.
    The steps come in this order. checks: note findings about objects to be written or deleted. forecast: what the
    changes do. before, after: before and after an object is written. revise: the forecast for objects whose answer is
    not as planned. foreseen: at the end of check mode.
    finish: what is left to do with what was declared, until a deadline. old_dependents, dependents: those of earlier
    objects of the name, and of deleted objects. lookup: keeps what the steps look up.
    """

    rules: Rules = Rules()
    see_others: Callable[[list[Manifest]], None] = lambda _objects: None
    complete: Callable[[list[DeclareJob]], None] = lambda _jobs: None
    checks: tuple[Step, ...] = ()
    forecast: tuple[Step, ...] = ()
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()
    revise: tuple[Step, ...] = ()
    foreseen: tuple[Step, ...] = ()
    finish: Callable[[Sequence[DeclareJob], float], None] = lambda _jobs, _deadline: None
    old_dependents: Dependents = no_dependents
    dependents: Dependents = no_dependents
    lookup: ClusterLookup | None = None


ANY_KIND = DeclaredKind()


def ownership(session: Session, task: Task) -> Ownership:
    """How a task deals with other field managers."""
    return Ownership(session.field_manager, task.force_conflicts, task.take_over)


def declare(
    session: Session, kind: DeclaredKind, jobs: list[DeclareJob], task: Task, read: ReadObjects = read_objects
) -> list[DeclareJob]:
    """Declares objects, and returns their jobs. read: reads the live objects.

    An invalid object stops the task before anything is sent, like an invalid option. An error of the cluster, such as a
    conflict or a missing permission, fails only its object, unless fail_fast is set.
    """
    if not _any_invalid(jobs):
        _read(session, kind, jobs, task, read)
    if _any_invalid(jobs):
        for job in jobs:
            # Nothing was compared with what is there.
            job.see(None)
            job.goal.skip_reason = None if job.failed else "not sent because other entries are invalid"
        return jobs
    steps = DeclareSteps(kind.rules, ownership(session, task), task.preflight, check_mode=task.check_mode)
    # What was not planned is neither written nor awaited.
    planned = _left(jobs)
    run(session, planned, [steps.plan], task)
    planned = _left(planned)
    if task.preflight != "off":
        checked = [job for job in planned if job.goal.action in plan.WRITES]
        run(session, checked, [*kind.checks, steps.judge], task, lookup=kind.lookup)
        _check_namespaces(session, jobs, task)
    run(session, _left(planned), kind.forecast, task, lookup=kind.lookup)
    # The write of a VM may have to wait although the task does not.
    waiting = replace(task, wait=True)
    if not task.check_mode:
        created = [job for job in _left(planned) if job.goal.action == plan.CREATE]
        run(session, created, [steps.gone._replace(others=kind.old_dependents)], waiting)
    if _is_stopped(jobs, task):
        for job in planned:
            would_change = job.failed is None and (job.goal.is_due or job.goal.restarts)
            job.failed = NOT_SENT.format("object") if would_change else job.failed
        return jobs
    due = [job for job in _left(planned) if job.goal.is_due]
    # Check mode judges each object.
    sending = replace(waiting, fail_fast=task.fail_fast and not task.check_mode)
    run(session, due, [*kind.before, steps.apply, *kind.after], sending)
    _revise(session, kind, due, task)
    deadline = time.monotonic() + task.wait_timeout
    if task.check_mode:
        run(session, _left(planned), kind.foreseen, task)
        return jobs
    if _is_stopped(jobs, task):
        return jobs
    kind.finish(_left(planned), deadline)
    ready = steps.ready._replace(others=kind.dependents)
    run(session, _left(planned), [ready, steps.unfinished], replace(task, wait_timeout=seconds_left(deadline)))
    return jobs


def _left(jobs: Iterable[DeclareJob]) -> list[DeclareJob]:
    return [job for job in jobs if not (job.failed or job.goal.skip_reason)]


def _any_invalid(jobs: Iterable[DeclareJob]) -> bool:
    return any(job.goal.problem for job in jobs)


def _is_stopped(jobs: Iterable[DeclareJob], task: Task) -> bool:
    return task.fail_fast and not task.check_mode and any(job.failed for job in jobs)


def _read(session: Session, kind: DeclaredKind, jobs: list[DeclareJob], task: Task, read: ReadObjects) -> None:
    """Reads the live objects, and completes what is declared. If a namespace cannot be read, only its objects fail."""
    groups: dict[tuple[str, str], dict[str, DeclareJob]] = {}
    for job in jobs:
        groups.setdefault((job.key.kind, job.key.namespace), {})[job.key.name] = job
    map_concurrently(
        lambda group: _read_group(session, kind, read, list(group.values())), groups.values(), task.concurrency
    )
    kind.complete([job for job in _left(jobs) if job.goal.state != "absent"])


def _read_group(session: Session, kind: DeclaredKind, read: ReadObjects, group: list[DeclareJob]) -> None:
    """Sets the live objects of a kind and namespace, and shows the kind the others."""
    try:
        objects = read(session, [job.key for job in group])
    except RequestFailed as error:
        for job in group:
            job.failed = str(error)
        return
    own = {job.key for job in group}
    kind.see_others([item for key, item in objects.items() if key not in own])
    for job in group:
        live = objects.get(job.key)
        if live is not None and live["metadata"].get("deletionTimestamp"):
            # A write does not keep the object from disappearing.
            job.goal.terminating, live = live, None
        job.seen = job.before = Seen(live)


def _check_namespaces(session: Session, jobs: list[DeclareJob], task: Task) -> None:
    """Judges deletions from namespaces that do not exist: a misspelt namespace must not pass for an empty one."""
    # This asks only where nothing was found, and costs no request where there is something to delete.
    there = {job.key.namespace for job in jobs if job.before.live is not None or job.goal.terminating is not None}
    for namespace in {job.key.namespace for job in jobs} - {""} - there:
        due = [job for job in jobs if job.key.namespace == namespace and job.goal.state == "absent" and not job.failed]
        if due and (problem := namespace_problem(session, namespace)):
            for job in due:
                judge(job, [Finding(problem, missing=True)], task.preflight, task.check_mode)


def _revise(session: Session, kind: DeclaredKind, due: Iterable[DeclareJob], task: Task) -> None:
    """Brings effects and warnings in line with what the API server has answered."""
    revised = [job for job in due if job.goal.answer is not None and not job.failed]
    if not revised:
        return
    from ..reads.admission import Mutators

    mutators = Mutators(session)
    for job in revised:
        if job.goal.action == plan.NONE:
            job.warnings = [text for text in job.warnings if text not in job.goal.of_change]
        for deviation in job.goal.deviations:
            causes = "" if deviation.manager else mutators.of(KINDS[job.key.kind], job.key.namespace)
            job.warn(deviation.told(causes))
    run(session, [job for job in revised if job.before.live is not None], kind.revise, task, lookup=kind.lookup)
    for job in revised:
        job.goal.answer, job.seen = None, Seen(job.seen.live)
