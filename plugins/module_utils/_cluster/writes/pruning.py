"""Deletes unreferenced ControllerRevisions, and converts ControllerRevisions of older API versions."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable

from ..._resolver.api.errors import KubeVirtError, value_or_none
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, labels_of
from ..._resolver.api.matcher import MATCHER_FIELDS, ObjectKey
from ..._resolver.api.write import delete, json_patch
from ..._resolver.change.controller_revisions import unreferenced
from ..._resolver.change.convert import convert
from ..._resolver.change.drift import Drift
from ..._resolver.change.step import VM, Act, Decision, Facts, Job, Step
from ..._resolver.kubevirt.instancetype import revision_names
from ..._resolver.kubevirt.vm.migrate_revisions import Action, Create, Delete, PatchStatus
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..reads.optional_kinds import list_if_served, pools_as_vms
from ..task import Task
from .engine import run
from .send import run_writes, send, send_create

_REVISION = KINDS["ControllerRevision"]
_VM = KINDS["VirtualMachine"]
_SNAPSHOTS = "snapshot.kubevirt.io"
_NAME = re.compile(r"[a-z0-9.-]+")


PruneJob = Job[str]
"""An unreferenced revision. Its goal is the UID of what to delete, "" if unknown."""
MigrationJob = Job[Drift]
"""A VM whose revisions have older API versions."""


def prunable(session: Session, namespace: str, keep: int) -> list[PruneJob]:
    """The revisions of instancetypes and preferences that no VM, pool, snapshot or restore of the namespace refers to.

    keep: the number of newest unreferenced revisions to keep for each VM and object.
    Raises RequestFailed if a kind cannot be listed, because a hidden object might refer to a revision.
    """
    # List the revisions first: a VM that starts to refer to one of them meanwhile is then in a later list.
    revisions, vms = (session.list(kind, namespace) for kind in (_REVISION, _VM))
    pools = pools_as_vms(session, namespace)
    contents, restores = (
        list_if_served(session, kind, _SNAPSHOTS, namespace)
        for kind in ("VirtualMachineSnapshotContent", "VirtualMachineRestore")
    )
    unused = unreferenced(vms, revisions, _names([*pools, *contents, *restores]))
    groups: dict[tuple[str, str], list[Manifest]] = {}
    for revision in unused:
        owners = revision["metadata"].get("ownerReferences") or []
        if not _is_being_restored(owners, restores):
            group_key = (
                ",".join(str(owner["uid"]) for owner in owners),
                labels_of(revision).get(revision_names.UID_LABEL, ""),
            )
            groups.setdefault(group_key, []).append(revision)
    return [
        Job(ObjectKey(_REVISION.kind, namespace, revision["metadata"]["name"]), revision["metadata"].get("uid") or "")
        for group in groups.values()
        for revision in group[: max(0, len(group) - keep)]
    ]


def prune(session: Session, revisions: list[PruneJob], task: Task) -> None:
    """Deletes revisions. Failures go into them."""
    run(session, revisions, [Step("delete", _delete)], task)


def _delete(job: PruneJob, _facts: Facts) -> Decision:
    # A VM that was deleted and created anew gets revisions of the same names.
    return Act((delete(job.key.path, job.goal),))


def _names(objects: list[Manifest]) -> set[str]:
    """Every word in the objects that may be a name: a snapshot contains the VM, a restore patches as text."""
    return set(_NAME.findall(json.dumps([[item.get("spec"), item.get("status")] for item in objects])))


def _is_being_restored(owners: list[Manifest], restores: list[Manifest]) -> bool:
    """Whether a running restore may need the revision: it belongs to the target VM, or has no VM yet."""
    under_way = [restore for restore in restores if not (restore.get("status") or {}).get("complete")]
    targets = {((restore.get("spec") or {}).get("target") or {}).get("name") for restore in under_way}
    vms = {owner.get("name") for owner in owners if owner.get("kind") == _VM.kind}
    return bool(under_way) and (not vms or bool(vms & targets))


def migrate_revisions(session: Session, vms: list[Drift], task: Task) -> list[MigrationJob]:
    """Converts revisions of older API versions."""
    jobs: list[MigrationJob] = [Job(ObjectKey(VM.kind, vm.namespace, vm.name), vm) for vm in vms]
    due = {vm.namespace for vm in vms if value_or_none(convert, vm.vm, vm.cluster.objects)}
    # This reads all VMs of the namespace, because others than the selected may refer to the same revisions.
    shared = {namespace: _shared_revisions(session.list(_VM, namespace)) for namespace in sorted(due)}
    run_writes(jobs, lambda job: _migrate(session, job, shared, task.check_mode), task)
    return jobs


def _shared_revisions(vms: Iterable[Manifest]) -> set[str]:
    """The revisions to which more than one VM refers."""
    users = Counter(
        name for vm in vms for name in {revision_names.referenced_revision(vm, field).name for field in MATCHER_FIELDS}
    )
    return {name for name, count in users.items() if count > 1}


def _migrate(session: Session, job: MigrationJob, shared: dict[str, set[str]], check_mode: bool) -> None:
    before = job.goal
    try:
        actions = convert(before.vm, before.cluster.objects, shared.get(before.namespace, ()))
    except KubeVirtError as error:
        job.failed = error.message
        return
    job.acted = bool(actions)
    try:
        for action in () if check_mode else actions:
            _write(session, action)
            job.written = True
    except RequestFailed:
        if not _is_done(session, before):
            raise


def _is_done(session: Session, before: Drift) -> bool:
    """Whether nothing is left to do: KubeVirt rejects a repeated patch if the first succeeded and its response was
    lost.
    """
    try:
        live = session.get(_VM, before.namespace, before.name)
        return live is not None and not convert(live, ClusterLookup(session))
    except (RequestFailed, KubeVirtError):
        return False


def _write(session: Session, action: Action) -> None:
    if isinstance(action, Create):
        manifest = {**action.manifest, "apiVersion": _REVISION.api_version, "kind": _REVISION.kind}
        send_create(session, _REVISION, action.namespace, manifest)
    elif isinstance(action, Delete):
        send(session, delete(_REVISION.path(action.namespace, action.name), action.uid))
    else:
        part = "status" if isinstance(action, PatchStatus) else None
        send(session, json_patch(_VM.path(action.namespace, action.name, part), action.patch))
