"""The volume for a guest's persistent TPM and EFI variables: a VMI waits until a StorageClass exists for it.

KubeVirt: pkg/storage/backend-storage. Nothing is provisioned here; the existence of the class suffices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from _resolver.boot.storage_class import default_class
from kubevirt_emulation.controllers.prerequisites import Missing

Manifest = dict[str, Any]

NO_CLASS = Missing("FailedBackendStorageCreate", "no default storage class found")


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
