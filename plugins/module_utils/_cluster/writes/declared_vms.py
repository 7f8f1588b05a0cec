"""VMs as a kind of declared objects: the rules and steps of `change.vm_steps`, and what reads the cluster for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..._resolver.api.manifest import Manifest
from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.step import RETRY, Step
from ..._resolver.change.vm_restarts import retry_act
from ..._resolver.change.vm_steps import VMSteps
from ..._resolver.declare import plan
from ..client.concurrency import map_concurrently
from ..client.session import Session
from ..task import Task
from .declare import DeclaredKind, ownership
from .declared_restarts import restart_declared
from .deletion import await_dependents, await_old_dependents
from .engine import run
from .vm_extension import VMTask

_Await = Callable[[Session, str, "list[Manifest]", float], "dict[str, str]"]


def vm_kind(vm_task: VMTask) -> DeclaredKind:
    """VMs as the objects of a task. The steps share one lookup, which reads when one of them needs it."""
    session, task, extensions = vm_task.session, vm_task.task, vm_task.extensions
    permitted = vm_task.options["restart"] == "if_required"
    steps = VMSteps(
        ownership(session, task),
        extensions,
        [check for extension in extensions for check in extension.checks],
        permitted=permitted,
        check_mode=task.check_mode,
    )

    def complete(jobs: list[DeclareJob]) -> None:
        steps.present = jobs
        for extension in extensions:
            extension.complete(jobs, task.check_mode)

    return DeclaredKind(
        steps.rules,
        steps.see_others,
        complete,
        checks=(steps.check,),
        forecast=steps.forecast,
        before=steps.plug,
        after=tuple(step for extension in extensions for step in extension.after),
        revise=steps.revise,
        foreseen=(steps.foreseen,),
        finish=partial(_finish, session, task, permitted),
        old_dependents=lambda jobs, seconds: _await(
            session, await_old_dependents, {job: job.goal.manifest for job in jobs}, seconds
        ),
        dependents=lambda jobs, seconds: _await(
            session,
            await_dependents,
            {job: job.before.live or {} for job in jobs if job.goal.action == plan.DELETE},
            seconds,
        ),
        lookup=vm_task.lookup,
    )


def _finish(session: Session, task: Task, permitted: bool, jobs: Sequence[DeclareJob], deadline: float) -> None:
    """Restarts the guests that need it, and makes virt-controller try again what has failed before."""
    if permitted or task.wait:
        restart_declared(session, jobs, permitted, task.concurrency, deadline)
    if task.wait:
        retry = Step(RETRY, lambda job, _facts: retry_act(job, session.field_manager))
        run(session, [job for job in jobs if not job.failed], [retry], replace(task, wait=False))


def _await(session: Session, wait: _Await, vms: Mapping[DeclareJob, Manifest], seconds: float) -> dict[DeclareJob, str]:
    """Waits in each namespace. vms: the VMs of the jobs."""
    namespaces: dict[str, dict[str, DeclareJob]] = {}
    for job in vms:
        namespaces.setdefault(job.key.namespace, {})[job.key.name] = job

    def wait_in(namespace: str) -> dict[DeclareJob, str]:
        jobs = namespaces[namespace]
        failures = wait(session, namespace, [vms[job] for job in jobs.values()], seconds)
        return {jobs[name]: failure for name, failure in failures.items()}

    return {job: failure for part in map_concurrently(wait_in, namespaces) for job, failure in part.items()}
