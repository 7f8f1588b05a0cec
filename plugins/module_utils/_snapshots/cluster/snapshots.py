"""Takes, deletes, restores and clones snapshots of VMs, with what belongs to it: pins, sizes, older snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone

from ..._cluster.client.session import Session
from ..._cluster.reads.revisions import inspect
from ..._cluster.reads.snapshot import read_objects
from ..._cluster.task import Task
from ..._cluster.writes.engine import run
from ..._cluster.writes.pruning import PruneJob, prune
from ..._cluster.writes.revisions import change
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.change.drift import Drift
from ..._resolver.change.revision_change import RevisionChange
from ..._resolver.change.revision_steps import is_changed
from ..._resolver.change.step import CHANGE_UNKNOWN_IN_CHECK_MODE, VM, Job, Step
from ..change import CLONED, RESTORE, RESTORED, SNAPSHOT, Keep, SnapshotJob, copies_the_vm, progress, steps, superfluous
from ..sizes import Sizes, capture_progress, captured, pinned, resized

_NOUN = "virtual machine"

Drifts = Mapping[ObjectKey, Drift]
Decide = Callable[[Drift], RevisionChange]
ByVM = Mapping[ObjectKey, SnapshotJob]


def execute(session: Session, jobs: list[SnapshotJob], drifts: Drifts, sizes: Sizes, keep: Keep, task: Task) -> None:
    """Takes jobs, at least one, to their common state. drifts: the VMs that exist."""
    state = jobs[0].goal.state
    of_vm = {vm_key(job, job.goal.name): job for job in jobs}
    check, request = steps(state)
    if state in (RESTORED, CLONED):
        _read_sources(session, jobs)
    run(session, jobs, [check], task, _NOUN)
    if sizes:
        _foresee_sizes(of_vm, drifts, sizes, task)
    going_on = {key: job for key, job in of_vm.items() if job.failed is None and key in drifts}
    copied = {key: drifts[key] for key, job in going_on.items() if copies_the_vm(job)}
    if not task.check_mode:
        uncaptured = {key: of_vm[key] for key, vm in copied.items() if not capture_progress(vm.vm).done}
        copied.update(_captured_vms(session, uncaptured, task))
    for job in _changed(session, copied, pinned, of_vm, task):
        job.goal.pinned = True
    run(session, _going_on(jobs), [request], task, _NOUN)
    if state == RESTORED:
        failed = [job.seen.live for job in jobs if job.failed and job.written and job.seen.live is not None]
        # KubeVirt accepts no other restore of the VM as long as there is one that has failed.
        prune(session, [_deletion(live) for live in failed if progress(RESTORE, live).failed], task)
    if state in (RESTORED, CLONED) and task.wait and not task.check_mode:
        of_target = {vm_key(job, job.goal.target): job for job in _going_on(jobs)}
        targets = _captured_vms(session, of_target, task)
        for key, vm in targets.items():
            of_target[key].goal.revisions = captured(vm.vm)
        new = {key: vm for key, vm in targets.items() if sizes and of_target[key].changed}
        _changed(session, new, lambda vm: resized(vm, sizes), of_target, task)
    if any(keep):
        _delete_superfluous(session, [job for job in _going_on(jobs) if job.goal.vm is not None], keep, task)


def vm_key(job: SnapshotJob, name: str) -> ObjectKey:
    """The key of a VM in the namespace of a job."""
    return ObjectKey(VM.kind, job.key.namespace, name)


def _going_on(jobs: Iterable[SnapshotJob]) -> list[SnapshotJob]:
    return [job for job in jobs if job.failed is None]


def _read_sources(session: Session, jobs: list[SnapshotJob]) -> None:
    """Reads the snapshots to restore or to clone, and the VMs of the names that clones get."""
    snapshots = {job: ObjectKey(SNAPSHOT.kind, job.key.namespace, job.goal.snapshot) for job in jobs}
    targets = {job: vm_key(job, job.goal.target) for job in jobs}
    found = read_objects(session, [key for key in (*snapshots.values(), *targets.values()) if key.name])
    for job in jobs:
        job.goal.source = found.get(snapshots[job])
        job.goal.target_exists = job.goal.state == CLONED and targets[job] in found


def _foresee_sizes(of_vm: ByVM, drifts: Drifts, sizes: Sizes, task: Task) -> None:
    """Fails the jobs whose target KubeVirt would reject with its size, judged by the VM as it is."""
    for key, job in of_vm.items():
        decided = resized(drifts[key], sizes) if key in drifts and job.failed is None else RevisionChange()
        if decided.unmet and task.check_mode:
            job.warn(f"{decided.refusal}; {CHANGE_UNKNOWN_IN_CHECK_MODE}")
        elif decided.refusal:
            job.failed = decided.refusal


def _changed(session: Session, vms: Drifts, decide: Decide, of_vm: ByVM, task: Task) -> list[SnapshotJob]:
    """Gives VMs other revisions. Returns the jobs of VMs that got them; failures and warnings go into the jobs."""
    changed = []
    due = [vm for key, vm in vms.items() if of_vm[key].failed is None]
    for revision_job in change(session, due, decide, "never", task):
        job = of_vm[revision_job.key]
        job.failed = revision_job.failed
        job.warnings += revision_job.warnings
        job.goal.revisions.update(revision_job.goal.revisions)
        if is_changed(revision_job):
            changed.append(job)
    return changed


def _deletion(live: Manifest) -> PruneJob:
    return Job(ObjectKey.of(live), live["metadata"]["uid"])


def _captured_vms(session: Session, of_vm: ByVM, task: Task) -> dict[ObjectKey, Drift]:
    """The VMs once KubeVirt has captured their revisions. Failures go into the jobs."""
    waits: list[Job[None]] = [Job(key, None) for key in of_vm]
    run(session, waits, [Step("capture", until=lambda _job: capture_progress)], task, _NOUN)
    names: dict[str, list[str]] = {}
    for wait in waits:
        of_vm[wait.key].failed = wait.failed
        names.setdefault(wait.key.namespace, []).append(wait.key.name)
    inspected = (vm for namespace, chosen in names.items() for vm in inspect(session, namespace, chosen))
    return {ObjectKey(VM.kind, vm.namespace, vm.name): vm for vm in inspected}


def _delete_superfluous(session: Session, jobs: list[SnapshotJob], keep: Keep, task: Task) -> None:
    """Deletes what need not be kept beside the snapshots of jobs."""
    now = datetime.now(timezone.utc)
    deletions: dict[PruneJob, SnapshotJob] = {}
    for namespace in dict.fromkeys(job.key.namespace for job in jobs):
        snapshots = session.list(SNAPSHOT, namespace)
        under_way = [item for item in session.list(RESTORE, namespace) if not progress(RESTORE, item).done]
        in_use = {item["spec"]["virtualMachineSnapshotName"] for item in under_way}
        for job in jobs:
            if job.key.namespace == namespace:
                # Check mode has not taken the snapshot that would be the newest.
                own = keep._replace(newest=keep.newest - (job.changed and task.check_mode))
                due = superfluous(snapshots, job.goal.vm or {}, own, now, {*in_use, job.key.name})
                deletions.update((_deletion({**item, "kind": SNAPSHOT.kind}), job) for item in due)
    prune(session, list(deletions), task)
    for deletion, job in deletions.items():
        job.failed = job.failed or deletion.failed
        job.goal.deleted += [deletion.key.name] if deletion.changed else []
