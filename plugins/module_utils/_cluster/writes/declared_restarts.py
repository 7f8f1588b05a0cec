"""Restarts the guests of declared VMs that need it."""

from __future__ import annotations

from collections.abc import Iterable

from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.guest import warn_of_condition
from ..._resolver.change.step import Seen
from ..._resolver.change.vm_restarts import (
    awaits_controller,
    guest_of,
    keeps_condition,
    may_restart,
    needs_restart,
    note_restart,
)
from ..client.concurrency import seconds_left
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..task import Task
from .engine import run
from .restarts import guest_steps, pending_effects, restart


def restart_declared(
    session: Session, jobs: Iterable[DeclareJob], permitted: bool, concurrency: int, deadline: float
) -> None:
    """Restarts the declared VMs that need it and waits until they run again, as long again as until the deadline.

    KubeVirt decides whether a VM needs a restart, once it has compared the change with the guest. An unchanged VM that
    needs a restart because of an earlier change is restarted too, even if virt-controller has not looked at that change
    yet. permitted: restart guests; else only wait for KubeVirt's decision.
    """
    before = {job: job.before for job in jobs if job.seen.live is not None}
    live = {job: job.seen.live for job in before}
    guests = {job: guest_of(job, permitted) for job in before}
    steps, seconds = guest_steps(session, guests.__getitem__), seconds_left(deadline)
    task = Task(wait=True, wait_timeout=seconds, concurrency=concurrency)
    run(session, [job for job in before if awaits_controller(job)], [steps.observe], task)
    for job in before:
        job.see(job.seen.live or live[job])
    if not permitted:
        return
    lookup = ClusterLookup(session)
    candidates = [job for job in before if not job.failed and (may_restart(job) or keeps_condition(job))]
    run(session, candidates, [steps.compare], task, lookup=lookup)
    due = [job for job in candidates if not job.failed and needs_restart(job, guests[job])]
    # Restarted guests get the full wait, even if a VM that virt-controller ignored has used up the time.
    restart(lookup, steps, due, concurrency, seconds)
    for job in candidates:
        job.failed = f"the restart failed: {job.failed}" if job.failed else None
        job.before, job.seen = before[job], Seen(job.seen.live)
    renewed = [job for job in due if not job.failed]
    for job, effect in zip(renewed, pending_effects(session, [job.seen.live or {} for job in renewed])):
        note_restart(job)
        if effect is not None and effect.restart_superfluous:
            warn_of_condition(job, job.seen.live or {})
