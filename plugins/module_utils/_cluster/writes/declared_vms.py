"""VMs as a kind of declared objects: the steps of `change.vm_steps` and of the extensions, and the waits for what
belongs to VMs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..._resolver.api.manifest import Manifest
from ..._resolver.change.declare_steps import DeclaredKind
from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.step import Step
from ..._resolver.change.vm_steps import VMSteps
from ..._resolver.declare import plan
from ..client.concurrency import map_concurrently
from ..client.session import Session
from .declare import ownership
from .deletion import await_dependents, await_old_dependents
from .vm_extension import VMTask

_Await = Callable[[Session, str, "list[Manifest]", float], "dict[str, str]"]


def vm_kind(vm_task: VMTask) -> DeclaredKind:
    """VMs as the objects of a task. The steps share one lookup, which reads when one of them needs it."""
    session, task, extensions = vm_task.session, vm_task.task, vm_task.extensions
    kind = VMSteps(
        ownership(session, task),
        [check for extension in extensions for check in extension.checks],
        inferring=vm_task.table.inferring,
        permitted=vm_task.options["restart"] == "if_required",
        waits=task.wait,
        check_mode=task.check_mode,
    ).kind

    def await_old(jobs: Sequence[DeclareJob], seconds: float) -> dict[DeclareJob, str]:
        return _await(session, await_old_dependents, {job: job.goal.manifest for job in jobs}, seconds)

    def await_gone(jobs: Sequence[DeclareJob], seconds: float) -> dict[DeclareJob, str]:
        return _await(session, await_dependents, {job: job.before.live or {} for job in jobs}, seconds)

    gone = Step("dependents gone", others=await_gone).only(lambda job: job.goal.action == plan.DELETE)
    return kind._replace(
        complete=(*kind.complete, *(step for extension in extensions for step in extension.complete)),
        checks=(*kind.checks, *(step for extension in extensions for step in extension.findings)),
        cleared=(Step("cleared", others=await_old),),
        after=tuple(step for extension in extensions for step in extension.after),
        gone=(gone,),
        facts=vm_task.lookup,
    )


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
