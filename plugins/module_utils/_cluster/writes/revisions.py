"""Gives VMs other revisions, by the steps of `change.revision_steps`, and applies these to their guests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ..._resolver.api.managed_fields import leaf_fields
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.change.drift import Drift
from ..._resolver.change.guest_steps import warn_of_condition
from ..._resolver.change.power import RESTARTED
from ..._resolver.change.power_steps import PowerRequest, is_renewed
from ..._resolver.change.revision_change import RevisionChange
from ..._resolver.change.revision_steps import (
    Revision,
    RevisionJob,
    capture_steps,
    is_terminating,
    needs_update,
    note_revisions,
    plan_restart,
    update_steps,
)
from ..._resolver.change.step import CHANGE_UNKNOWN_IN_CHECK_MODE, VM, Job, Seen
from ..._resolver.ownership.writers import REVERTED, writer_claim
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..task import Task
from .engine import run
from .restarts import await_conditions, guest_steps, restart


def change(
    session: Session,
    inspected: list[Drift],
    decide: Callable[[Drift], RevisionChange],
    option: str,
    task: Task,
) -> list[RevisionJob]:
    """Gives VMs the revisions that `decide` chooses.

    option: `never`, `if_required` or `always`. Guests are restarted once all VMs have their revisions. If an earlier
    run changed a VM but was interrupted before the restart, this run restarts it.

    A VM whose change KubeVirt would reject is left unchanged and fails. One that is being deleted is left unchanged:
    KubeVirt captures nothing for it any more.
    """
    jobs = [_planned(session, vm, RevisionChange() if is_terminating(vm) else decide(vm), option) for vm in inspected]
    due = [job for job in jobs if job.failed is None and (job.goal.change.due or task.check_mode)]
    waiting = replace(task, wait=True)
    run(session, due, capture_steps(session.field_manager, check_mode=task.check_mode), waiting)
    if not task.check_mode:
        for job in due:
            note_revisions(job)
        _update_guests(session, [job for job in jobs if needs_update(job)], waiting)
    return jobs


def _planned(session: Session, before: Drift, decided: RevisionChange, option: str) -> RevisionJob:
    key = ObjectKey(VM.kind, before.namespace, before.name)
    job: RevisionJob = Job(key, Revision(before, decided), seen=Seen(before.vm))
    if decided.refusal is not None:
        job.failed = f"{decided.refusal}; nothing was changed"
        return job
    plan_restart(job, option)
    fields = leaf_fields({"spec": decided.spec}) if decided.spec else {}
    if found := writer_claim(before.vm, fields, session.field_manager):
        job.warn(found.text(REVERTED))
    return job


def excuse_unmet(jobs: Iterable[RevisionJob]) -> None:
    """In check mode: turns refusals that an earlier task of the play may remove into warnings."""
    for job in jobs:
        if job.failed and job.goal.change.unmet:
            job.warn(f"{job.goal.change.refusal}; {CHANGE_UNKNOWN_IN_CHECK_MODE}")
            job.failed = None


def _update_guests(session: Session, jobs: Sequence[RevisionJob], task: Task) -> None:
    """Brings the guests of VMs that got other revisions up to date. Failures go into the jobs.

    `concurrency` guests restart at the same time. The timeout applies to the wait for KubeVirt, and to each such group.
    """
    lookup = ClusterLookup(session, strict=True)
    steps = guest_steps(session, lambda job: job.goal.guest)
    run(session, jobs, update_steps(steps), task, lookup=lookup)
    restarted = [job for job in jobs if job.failed is None and job.goal.restarts]
    restart(lookup, steps, restarted, task.concurrency, task.wait_timeout, task.concurrency)
    renewed = [job for job in restarted if is_renewed(job, PowerRequest(RESTARTED, guest=job.goal.guest.uid))]
    await_conditions(session, renewed, task.concurrency)
    for job in renewed:
        # The guest was started from the current VM: a remaining condition is no reason for another restart.
        job.goal.guest_current = True
        warn_of_condition(job, job.seen.live or {})
