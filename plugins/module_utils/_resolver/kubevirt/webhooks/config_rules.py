"""The rules of virt-api that depend on the cluster's configuration, besides instancetypes and preferences.

It rejects what needs closed gates of the release, and what KubeVirt could not change in a running guest
(``vmi-create-admitter.go``, ``vms-admitter.go``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...api.manifest import Manifest
from ...api.release import MULTI_ARCHITECTURE, PERSISTENT_STATE
from ..vmi import hotplug
from ..vmi.cluster import KubeVirt
from .admission import INVALID, REQUIRED, Cause


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


def live_updates(spec: Manifest, path: str) -> Iterator[Cause]:
    """validateLiveUpdateFeatures of a canonical VMI spec at a path, for clusters with live updates."""
    domain = spec["domain"]
    cpu, memory = domain.get("cpu") or {}, domain.get("memory") or {}
    if cpu.get("maxSockets") and cpu.get("sockets", 0) > cpu["maxSockets"]:
        message = "Number of sockets in CPU topology is greater than the maximum sockets allowed"
        yield Cause(INVALID, message, f"{path}.domain.cpu.sockets")
    if memory.get("maxGuest") is not None:
        error = hotplug.memory_hotplug_error(spec, memory["maxGuest"])
        if error is not None:
            yield Cause(INVALID, error, f"{path}.domain.memory.guest")


def config_causes(spec: Manifest, path: str, kubevirt: KubeVirt) -> tuple[list[Cause], list[Cause]]:
    """The causes for a canonical VMI spec, with everything applied, at a path: of fields that need a closed feature
    gate, and of values that live updates do not permit.
    """
    closed = [
        *architecture(spec, path, kubevirt.configuration.architecture, kubevirt.closed_gates),
        *persistent_state(spec, path, kubevirt.closed_gates),
    ]
    return closed, list(live_updates(spec, path)) if kubevirt.live_updates else []
