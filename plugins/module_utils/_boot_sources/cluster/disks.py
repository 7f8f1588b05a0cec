"""Disks of VMs that are smaller than declared: warnings, and claims that grow."""

from __future__ import annotations

from collections.abc import Sequence

from ..._cluster.client.errors import RequestFailed
from ..._cluster.client.session import Session
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.writes.engine import send
from ..._cluster.writes.kind_handler import DeclareOutcome
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.write import merge_patch
from ..._resolver.declare.vm.manifest import grown_claims
from .. import disk_sizes
from .cdi import cdi

_CLAIM = KINDS["PersistentVolumeClaim"]


def judge_disks(session: Session, lookup: ClusterLookup, outcomes: Sequence[DeclareOutcome]) -> None:
    """Compares the declared sizes of existing VMs with their claims, in every run.

    A disk that is too small is a warning, or grows if the task says so. A VM whose disk cannot grow fails.
    """
    existing = [outcome for outcome in outcomes if outcome.live is not None and not outcome.failed]
    lookup.gather(key for outcome in existing for key in disk_sizes.keys_for_sizes(outcome.declared.manifest))
    for outcome in existing:
        for disk in disk_sizes.small_disks(outcome.declared.manifest, lookup):
            obstacle = disk_sizes.obstacle_to_growth(disk, cdi(session).classes)
            if disk.name not in grown_claims(outcome.declared.options):
                remedy = obstacle or "set expand: grow on the volume to grow the claim"
                outcome.warn(f"{disk.line}, because KubeVirt creates it only once; {remedy}")
            elif obstacle:
                outcome.failed = f"{disk.line}, and {obstacle}"
            else:
                outcome.related_changes.append(disk)


def grow_disks(session: Session, outcome: DeclareOutcome) -> None:
    """Grows the claims of a VM. The storage resizes them later, and KubeVirt tells a running guest."""
    for disk in outcome.related_changes:
        path, growth = _CLAIM.path(disk.namespace, disk.name), {"resources": {"requests": {"storage": disk.declared}}}
        try:
            send(session, merge_patch(path, {"spec": growth}, fieldManager=session.field_manager))
        except RequestFailed as error:
            outcome.failed = f"{disk.path}: the claim {disk.name} does not grow: {error}"
            return
        outcome.written = outcome.written or not session.is_dry_run
        sizes = {"name": disk.name, "before": disk.size, "after": disk.declared}
        outcome.facts.setdefault("grown_disks", []).append(sizes)
