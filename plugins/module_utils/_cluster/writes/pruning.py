"""Deletes unreferenced ControllerRevisions."""

from __future__ import annotations

import json
import re

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, labels_of
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.write import delete
from ..._resolver.change.controller_revisions import unreferenced
from ..._resolver.change.step import Act, Decision, Facts, Job, Step
from ..._resolver.kubevirt.instancetype import revision_names
from ..client.session import Session
from ..reads.optional_kinds import list_if_served, pools_as_vms
from ..task import Task
from .engine import run

_REVISION = KINDS["ControllerRevision"]
_VM = KINDS["VirtualMachine"]
_SNAPSHOTS = "snapshot.kubevirt.io"
_NAME = re.compile(r"[a-z0-9.-]+")


PruneJob = Job[str]
"""An unreferenced revision. Its goal is the UID of what to delete, "" if unknown."""


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
