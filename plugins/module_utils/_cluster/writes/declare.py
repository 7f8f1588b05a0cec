"""The path of every module that declares objects: live snapshot → plan → preflight → writes → wait."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from ..._resolver.change.declare_steps import DeclaredKind, DeclareSteps
from ..._resolver.change.declared import DeclareJob, Ownership
from ..client.session import Session
from ..reads.snapshot import ReadObjects, namespace_problem, read_objects
from ..task import Task
from .engine import run

if TYPE_CHECKING:
    from ..reads.admission import Mutators


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

    @cache
    def mutators() -> Mutators:
        # Only a surprising answer needs it.
        from ..reads.admission import Mutators

        return Mutators(session)

    # Check mode judges each object.
    task = replace(task, fail_fast=task.fail_fast and not task.check_mode)
    steps = DeclareSteps(
        kind,
        ownership(session, task),
        task.preflight,
        partial(namespace_problem, session),
        lambda kind, namespace: mutators().of(kind, namespace),
        fail_fast=task.fail_fast,
        check_mode=task.check_mode,
    )
    run(session, jobs, steps.steps(), task, facts=kind.facts, read=read)
    return jobs
