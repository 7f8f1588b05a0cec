"""Finalizers: what holds the deletion of an object, and who ends that."""

from __future__ import annotations

from typing import Final

from .managed_fields import entries
from .manifest import Manifest, metadata_of

PVC_PROTECTION: Final = "kubernetes.io/pvc-protection"
_NODE: Final = "virt-handler has cleaned up on the node of the guest"
# Finalizers of Kubernetes, KubeVirt and CDI → what ends the hold.
_UNTIL: Final = {
    "foregroundDeletion": "its dependents are gone",
    "orphan": "its dependents no longer name it as their owner",
    PVC_PROTECTION: "no pod uses the claim",
    "provisioner.storage.kubernetes.io/cloning-protection": "the clones of the claim are made",
    "snapshot.storage.kubernetes.io/pvc-as-source-protection": "the VolumeSnapshot of the claim is taken",
    "cdi.kubevirt.io/cloneSource": "CDI has ended the clone",
    "cdi.kubevirt.io/clonePopulator": "CDI has ended the clone",
    "cdi.kubevirt.io/dataVolumeFinalizer": "CDI has cleaned up the clone",
    "foregroundDeleteVirtualMachine": _NODE,
    "kubevirt.io/foregroundDeleteVirtualMachine": _NODE,
    "kubevirt.io/virtualMachineControllerFinalize": "virt-controller has seen the end of its guest",
    "kubevirt.io/migrationJobFinalize": "the migration has ended",
    "snapshot.kubevirt.io/snapshot-source-protection": "its VirtualMachineSnapshot is taken",
    "backup.kubevirt.io/vmbackup-protection": "its VirtualMachineBackup has ended",
}


def holders(item: Manifest) -> list[str]:
    """A text for each finalizer that holds the deletion of an object; [] for an object that is not being deleted."""
    metadata = metadata_of(item)
    if not metadata.get("deletionTimestamp"):
        return []
    return [_text(item, str(finalizer)) for finalizer in metadata.get("finalizers") or ()]


def _text(item: Manifest, finalizer: str) -> str:
    if known := _UNTIL.get(finalizer):
        return f"the finalizer {finalizer} holds it until {known}"
    domain, slash, _name = finalizer.partition("/")
    manager = _set_by(item, finalizer)
    by = f", set by {manager}," if manager else ""
    tool = f"the tool of {domain}" if slash else "its tool"
    return (
        f"the finalizer {finalizer}{by} holds it until {tool} removes it; if there is no such tool, remove it yourself"
    )


def _set_by(item: Manifest, finalizer: str) -> str:
    """The field manager that has set a finalizer, "" if unknown."""
    for entry in entries(item):
        fields = ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:finalizers") or {}
        if f'v:"{finalizer}"' in fields:
            return str(entry.get("manager") or "")
    return ""
