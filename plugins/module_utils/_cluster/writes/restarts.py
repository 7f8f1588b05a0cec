"""Brings the guests of VMs up to date, by the steps of `change.guest_steps`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.change.guest import Guest
from ..._resolver.change.guest_steps import GuestSteps
from ..._resolver.change.step import VM, Job, Seen
from ..._resolver.guest.effect import NOTHING
from ..._resolver.kubevirt.vm.readiness import observed
from ..client.concurrency import map_concurrently
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..task import Task
from .engine import run

# virt-controller updates the conditions of a new guest within this many seconds of its last write.
_QUIET: Final = 2.0
# How often a VM is read again until its conditions are final.
_READS: Final = 5

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


def await_conditions(session: Session, jobs: Sequence[Job[Any]], concurrency: int) -> None:
    """Reads the VMs with a new guest once nothing writes them any more: their conditions are final then."""

    def moved(job: Job[Any]) -> bool:
        """Whether the VM was written since it was last read, or virt-controller has not observed it."""
        last = job.seen.live
        try:
            live = session.get(VM, job.key.namespace, job.key.name) or last
        except RequestFailed:
            # The restart succeeded; a failed extra read does not matter.
            return False
        job.seen = job.seen._replace(live=live)
        versions = {str((vm or {}).get("metadata", {}).get("resourceVersion")) for vm in (live, last)}
        return len(versions) > 1 or not observed(live or {})

    moving = list(jobs)
    for _read in range(_READS):
        if not moving:
            break
        time.sleep(_QUIET)
        has_moved = map_concurrently(moved, moving, concurrency)
        moving = [job for job, again in zip(moving, has_moved) if again]
