"""Takes VMs to power states."""

from __future__ import annotations

from collections.abc import Sequence

from ..._resolver.api.matcher import ObjectKey
from ..._resolver.change.power_steps import PowerRequest, power_steps
from ..._resolver.change.step import REQUEST, VM, Job
from ..client.session import Session
from ..task import Task
from .engine import look, run

PowerJob = Job[PowerRequest]


def power_job(namespace: str, name: str, request: PowerRequest) -> PowerJob:
    """The job for a VM that is to be in a power state."""
    return Job(ObjectKey(VM.kind, namespace, name), request)


def power(session: Session, jobs: Sequence[PowerJob], task: Task) -> None:
    """Takes VMs to their requested states. One that fails does not stop the others, unless fail_fast is set."""
    steps = power_steps(lambda job: job.goal, session.field_manager, check_mode=task.check_mode, waits=task.wait)
    run(session, jobs, steps, task, "virtual machine")
    if not task.check_mode:
        # Some VMs have moved during the wait.
        look(session, [job for job in jobs if REQUEST in job.done or _has_moved(job)])


def _has_moved(job: PowerJob) -> bool:
    before, now = (vm["metadata"].get("resourceVersion") if vm else None for vm in (job.before.live, job.seen.live))
    return bool(before != now)
