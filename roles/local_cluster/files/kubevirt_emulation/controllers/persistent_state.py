"""The volume for a guest's persistent TPM and EFI variables: a VMI waits until a StorageClass exists for it.

KubeVirt: pkg/storage/backend-storage. Nothing is provisioned here; the existence of the class suffices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from _resolver.boot.storage_class import default_class
from kubevirt_emulation.clock import now
from kubevirt_emulation.controllers import vmi_state

Manifest = dict[str, Any]


def is_needed(spec: Manifest) -> bool:
    """Whether a VMI spec has a persistent TPM or persistent EFI variables (IsBackendStorageNeeded)."""
    domain = spec["domain"]
    tpm = domain["devices"].get("tpm") or {}
    efi = ((domain.get("firmware") or {}).get("bootloader") or {}).get("efi") or {}
    return bool(tpm.get("persistent") and tpm.get("enabled", True)) or bool(efi.get("persistent"))


def has_class(configuration: Manifest, classes: Iterable[Manifest]) -> bool:
    """Whether the configuration names a StorageClass (KubeVirt does not check that it exists), or a default
    one exists.
    """
    return bool(configuration.get("vmStateStorageClass")) or default_class(classes) is not None


def wait(vmi: Manifest) -> Manifest | None:
    """Pure except for the time: the merge patch of a VMI that cannot start; None if its status says so already."""
    if vmi_state.phase(vmi) == "Pending":
        return None
    conditions = [
        _condition("Ready", "PodNotExists", "virt-launcher pod has not yet been scheduled"),
        _condition("Synchronized", "FailedBackendStorageCreate", "no default storage class found"),
    ]
    return {"status": {"phase": "Pending", "conditions": conditions}}


def _condition(name: str, reason: str, message: str) -> Manifest:
    return {
        "type": name,
        "status": "False",
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": now(),
    }
