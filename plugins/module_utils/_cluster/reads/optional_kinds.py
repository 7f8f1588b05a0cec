"""Lists of kinds that a cluster may lack, or serve in an older version only."""

from __future__ import annotations

from typing import Final

from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest
from ..client.errors import ApiError
from ..client.session import Session

# v1beta1 of snapshots since KubeVirt 1.2, of pools since 1.7.
_VERSIONS: Final = ("v1beta1", "v1alpha1")
_NOT_SERVED: Final = 404

POOL: Final = "VirtualMachinePool"


def list_if_served(session: Session, kind: str, group: str, namespace: str | None) -> list[Manifest]:
    """The objects of a kind of KubeVirt; none if the cluster has no such kind. Raises RequestFailed.

    namespace: None for all. One request where the cluster serves the newest version.
    """
    for version in _VERSIONS:
        try:
            return session.list(Kind(kind, group, version, f"{kind.lower()}s", True), namespace)
        except ApiError as error:
            if error.code != _NOT_SERVED:
                raise
    return []


def pools_as_vms(session: Session, namespace: str | None) -> list[Manifest]:
    """The VirtualMachinePools, each as a VM of its template, which names what the pool's next VMs use."""
    pools = list_if_served(session, POOL, "pool.kubevirt.io", namespace)
    return [
        {
            "kind": POOL,
            "metadata": pool["metadata"],
            "spec": (((pool.get("spec") or {}).get("virtualMachineTemplate") or {}).get("spec") or {}),
        }
        for pool in pools
    ]
