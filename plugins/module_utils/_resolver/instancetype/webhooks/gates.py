"""What virt-api rejects if a feature gate of the release is closed (KubeVirt ``vmi-create-admitter.go``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...api.release import MULTI_ARCHITECTURE, PERSISTENT_STATE
from .admission import INVALID, REQUIRED, Cause

Manifest = dict[str, Any]


def architecture(spec: Manifest, path: str, default: str, closed: frozenset[str]) -> Iterator[Cause]:
    """validateArchitecture of a canonical VMI spec at a path. default: the cluster's architecture. closed: gates."""
    if spec.get("architecture", default) != default and MULTI_ARCHITECTURE in closed:
        field = f"{path}.architecture"
        yield Cause(REQUIRED, f"{_not_enabled(MULTI_ARCHITECTURE)}, invalid entry {field}", field)


def persistent_state(spec: Manifest, path: str, closed: frozenset[str]) -> Iterator[Cause]:
    """validatePersistentState."""
    if PERSISTENT_STATE not in closed:
        return
    domain = spec["domain"]
    tpm = domain["devices"].get("tpm") or {}
    if tpm.get("persistent") and tpm.get("enabled") is not False:
        yield Cause(INVALID, _not_enabled(PERSISTENT_STATE), f"{path}.domain.devices.tpm.persistent")
    bootloader = (domain.get("firmware") or {}).get("bootloader") or {}
    if (bootloader.get("efi") or {}).get("persistent"):
        yield Cause(INVALID, _not_enabled(PERSISTENT_STATE), f"{path}.domain.firmware.bootloader.efi.persistent")


def _not_enabled(gate: str) -> str:
    return f"{gate} feature gate is not enabled in kubevirt-config"
