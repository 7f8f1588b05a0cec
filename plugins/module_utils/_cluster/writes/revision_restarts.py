"""Brings the guests of VMs that got other revisions up to date, by the steps of `change.revision_guests`."""

from __future__ import annotations

from collections.abc import Sequence

from ..._resolver.change.guest import warn_of_condition
from ..._resolver.change.power import RESTARTED
from ..._resolver.change.power_steps import PowerRequest, is_renewed
from ..._resolver.change.revision_guests import update_steps
from ..._resolver.change.revision_steps import RevisionJob
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..task import Task
from .engine import run
from .restarts import guest_steps, restart


def update_guests(session: Session, jobs: Sequence[RevisionJob], task: Task) -> None:
    """Brings the guests of VMs that got other revisions up to date. Failures go into the jobs.

    `concurrency` guests restart at the same time. The timeout applies to the wait for KubeVirt, and to each such group.
    """
    lookup = ClusterLookup(session, strict=True)
    steps = guest_steps(session, lambda job: job.goal.guest)
    run(session, jobs, update_steps(steps), task, facts=lookup)
    restarted = [job for job in jobs if job.failed is None and job.goal.restarts]
    restart(lookup, steps, restarted, task.concurrency, task.wait_timeout, task.concurrency)
    for job in restarted:
        if is_renewed(job, PowerRequest(RESTARTED, guest=job.goal.guest.uid)):
            # The guest was started from the current VM: a remaining condition is no reason for another restart. It is
            # final, because virt-controller compares a VM with its guest before it reports the guest as ready.
            job.goal.guest_current = True
            warn_of_condition(job, job.seen.live or {})
