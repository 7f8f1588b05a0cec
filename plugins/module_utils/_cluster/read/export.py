"""VMs of a cluster as manifests for another cluster."""

from __future__ import annotations

from typing import Any

from ..._resolver.preflight.lookups import referred
from ..._resolver.refresh.export import Exported, exported
from ..client.session import Session
from .kubevirt import kubevirt
from .lookup import ClusterLookup

Manifest = dict[str, Any]


def export(session: Session, vms: list[Manifest], namespace: str, run_strategy: str) -> list[Exported]:
    """The exported VMs, in order; for the arguments see `exported`. Raises ApiError and ConnectionFailed."""
    if not vms:
        return []
    release, lookup = kubevirt(session).release, ClusterLookup(session)
    lookup.gather(need for vm in vms for need in referred(vm, release))
    return [exported(vm, lookup, release, namespace, run_strategy) for vm in vms]
