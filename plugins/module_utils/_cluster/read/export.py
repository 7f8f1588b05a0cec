"""VMs of a cluster as manifests for another cluster."""

from __future__ import annotations

from typing import Any

from ..._resolver.preflight.object_keys import keys_for_expansion
from ..._resolver.refresh.export import VMExport, export_vm
from ..client.session import Session
from .kubevirt import kubevirt
from .lookup import ClusterLookup

Manifest = dict[str, Any]


def export(session: Session, vms: list[Manifest], namespace: str, run_strategy: str) -> list[VMExport]:
    """The exported VMs, in order; for the arguments see `export_vm`. Raises ApiError and ConnectionFailed."""
    if not vms:
        return []
    release, lookup = kubevirt(session).release, ClusterLookup(session)
    lookup.gather(key for vm in vms for key in keys_for_expansion(vm, release))
    return [export_vm(vm, lookup, release, namespace, run_strategy) for vm in vms]
