"""Gives VMs other revisions, by the steps of `change.revision_steps`, and applies these to their guests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..._resolver.api.managed_fields import leaf_fields
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.change.drift import Drift
from ..._resolver.change.revision_change import RevisionChange
from ..._resolver.change.revision_steps import (
    Revision,
    RevisionJob,
    capture_steps,
    is_terminating,
    needs_update,
    note_revisions,
    plan_restart,
)
from ..._resolver.change.step import CHANGE_UNKNOWN_IN_CHECK_MODE, VM, Job, Seen
from ..client.session import Session
from ..task import Task


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
    if due:
        # Most VMs have their revisions.
        from .engine import run

        run(session, due, capture_steps(session.field_manager, check_mode=task.check_mode), waiting)
    if not task.check_mode:
        for job in due:
            note_revisions(job)
        if lacking := [job for job in jobs if needs_update(job)]:
            from .revision_restarts import update_guests

            update_guests(session, lacking, waiting)
    return jobs


def _planned(session: Session, before: Drift, decided: RevisionChange, option: str) -> RevisionJob:
    key = ObjectKey(VM.kind, before.namespace, before.name)
    job: RevisionJob = Job(key, Revision(before, decided), seen=Seen(before.vm))
    if decided.refusal is not None:
        job.failed = f"{decided.refusal}; nothing was changed"
        return job
    plan_restart(job, option)
    if decided.spec:
        from ..._resolver.ownership.writers import REVERTED, writer_claim

        if found := writer_claim(before.vm, leaf_fields({"spec": decided.spec}), session.field_manager):
            job.warn(found.text(REVERTED))
    return job


def excuse_unmet(jobs: Iterable[RevisionJob]) -> None:
    """In check mode: turns refusals that an earlier task of the play may remove into warnings."""
    for job in jobs:
        if job.failed and job.goal.change.unmet:
            job.warn(f"{job.goal.change.refusal}; {CHANGE_UNKNOWN_IN_CHECK_MODE}")
            job.failed = None
