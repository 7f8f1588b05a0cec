"""Brings the guests of VMs up to date, by the steps of `change.guest_steps`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.change.guest import Guest
from ..._resolver.change.guest_steps import GuestSteps
from ..._resolver.change.step import VM, Job, Seen
from ..._resolver.guest.effect import NOTHING
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..task import Task
from .engine import run

GuestJob = Job[Guest]


def guest_job(vm: Manifest, may_restart: bool, expects: str = NOTHING) -> GuestJob:
    """The job for a VM whose guest may lack changes."""
    metadata = vm["metadata"]
    key = ObjectKey(VM.kind, metadata["namespace"], metadata["name"])
    return Job(key, Guest(may_restart, expects), seen=Seen(vm))


def guest_steps(session: Session, guest_of: Callable[[Job[Any]], Guest] = lambda job: job.goal) -> GuestSteps:
    return GuestSteps(guest_of, session.field_manager)


def restart(
    lookup: ClusterLookup,
    steps: GuestSteps,
    jobs: Sequence[Job[Any]],
    concurrency: int,
    seconds: float,
    at_once: int = 0,
) -> None:
    """Restarts guests that were compared with their VMs, and waits until they run again.

    seconds: the wait for all that restart together. at_once: how many do; 0 for all.
    """
    task = Task(wait=True, wait_timeout=seconds, concurrency=concurrency)
    size = at_once or len(jobs) or 1
    for group in (jobs[first : first + size] for first in range(0, len(jobs), size)):
        run(lookup.session, group, steps.restart, task, "virtual machine", lookup)
