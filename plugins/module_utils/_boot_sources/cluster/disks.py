"""Disks of VMs that are smaller than declared: warnings, and claims that grow."""

from __future__ import annotations

from collections.abc import Sequence

from ..._cluster.client.errors import RequestFailed
from ..._cluster.client.pool import map_concurrently
from ..._cluster.client.session import Session
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.writes.engine import send
from ..._cluster.writes.kind_handler import DeclareOutcome
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.write import merge_patch
from ..._resolver.declare.vm.manifest import grown_claims
from .. import disk_sizes
from ..disk_sizes import SmallDisk
from .cdi import cdi

_CLAIM = KINDS["PersistentVolumeClaim"]


def judge_disks(session: Session, lookup: ClusterLookup, results: Sequence[DeclareOutcome]) -> None:
    """Compares the declared sizes of existing VMs with their claims, in every run.

    A disk that is too small is a warning, or grows if the task says so. A VM whose disk cannot grow fails.
    """
    existing = [result for result in results if result.live is not None and not result.failed]
    lookup.gather(key for result in existing for key in disk_sizes.keys_for_sizes(result.declared.manifest))
    for result in existing:
        for disk in disk_sizes.small_disks(result.declared.manifest, lookup):
            classes = cdi(session).classes
            if disk.name not in grown_claims(result.declared.options):
                result.warn(disk_sizes.warning(disk, classes))
            elif problem := disk_sizes.cannot_grow(disk, classes):
                result.failed = problem
            else:
                result.related_changes.append(disk)


def grow_disks(session: Session, results: Sequence[DeclareOutcome], concurrency: int) -> None:
    """Grows the claims. The storage resizes them later, and KubeVirt tells a running guest."""
    due = [(result, disk) for result in results for disk in result.related_changes]

    def grow(pair: tuple[DeclareOutcome, SmallDisk]) -> None:
        result, disk = pair
        write = merge_patch(
            _CLAIM.path(disk.namespace, disk.name), disk_sizes.growth(disk), fieldManager=session.field_manager
        )
        try:
            send(session, write)
        except RequestFailed as error:
            result.failed = f"{disk.path}: the claim {disk.name} does not grow: {error}"
            return
        result.written = result.written or not session.is_dry_run
        sizes = {"name": disk.name, "before": disk.size, "after": disk.declared}
        result.facts.setdefault("grown_disks", []).append(sizes)

    map_concurrently(grow, due, concurrency)
