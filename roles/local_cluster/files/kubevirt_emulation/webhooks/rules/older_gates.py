"""What only older releases refuse: what needs a feature gate there that is no longer needed."""

from __future__ import annotations

from collections.abc import Iterator

from _resolver.instancetype.webhooks.admission import INVALID, REQUIRED
from kubevirt_emulation.behaviour import MULTI_ARCHITECTURE, PERSISTENT_STATE
from kubevirt_emulation.webhooks.rules.cause import Cause, Spec
from kubevirt_emulation.webhooks.rules.cluster import Cluster


def architecture(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateArchitecture."""
    field = f"{path}.architecture"
    other = spec.get("architecture", cluster.architecture) != cluster.architecture
    if other and MULTI_ARCHITECTURE in cluster.closed_gates():
        yield Cause(REQUIRED, f"{_not_enabled(MULTI_ARCHITECTURE)}, invalid entry {field}", field)


def persistent_state(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validatePersistentState."""
    if PERSISTENT_STATE not in cluster.closed_gates():
        return
    domain = spec["domain"]
    tpm = domain["devices"].get("tpm") or {}
    if tpm.get("persistent") and tpm.get("enabled") is not False:
        yield Cause(INVALID, _not_enabled(PERSISTENT_STATE), f"{path}.domain.devices.tpm.persistent")
    bootloader = (domain.get("firmware") or {}).get("bootloader") or {}
    if (bootloader.get("efi") or {}).get("persistent"):
        field = f"{path}.domain.firmware.bootloader.efi.persistent"
        yield Cause(INVALID, _not_enabled(PERSISTENT_STATE), field)


def _not_enabled(gate: str) -> str:
    return f"{gate} feature gate is not enabled in kubevirt-config"
