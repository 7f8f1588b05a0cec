"""The parts of KubeVirt's configuration that determine defaults of VMs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ...api import errors, quantity

DEFAULT_ARCHITECTURE: Final = "amd64"
_MACHINE_TYPES: Final = {"amd64": "q35", "arm64": "virt", "s390x": "s390-ccw-virtio"}
CPU_REQUEST: Final = "100m"
_NETWORK_INTERFACES: Final = ("bridge", "masquerade", "slirp")


class Configuration(NamedTuple):
    """The relevant parts of a cluster's KubeVirt configuration, with KubeVirt's own defaults.

    architecture: of VMs without one. machine_type: of all VMs, or "".
    machine_types: architecture → machine type. cpu_request: a quantity.
    network_interface: bridge, masquerade or slirp. bridge_permitted: on the pod network.
    memory_overcommit: the guests' memory in percent of their pods' requests.
    """

    architecture: str = DEFAULT_ARCHITECTURE
    machine_type: str = ""
    machine_types: Mapping[str, str] = _MACHINE_TYPES
    cpu_request: str = CPU_REQUEST
    network_interface: str = "bridge"
    bridge_permitted: bool = True
    eviction_strategy: str = "None"
    memory_overcommit: int = 100


def configuration(spec: dict[str, Any] | None = None, architecture: str = DEFAULT_ARCHITECTURE) -> Configuration:
    """Reads `spec.configuration` of a KubeVirt object and its `status.defaultArchitecture`.

    Like KubeVirt, ignores a whole configuration with an invalid value.
    """
    spec = spec or {}
    if not is_valid(spec):
        return Configuration()
    network = spec.get("network") or {}
    machine_types = dict(_MACHINE_TYPES)
    for name, entry in (spec.get("architectureConfiguration") or {}).items():
        # That of s390x is new in 1.7; the CRD of older releases drops it.
        if name in _MACHINE_TYPES and (entry or {}).get("machineType"):
            machine_types[name] = entry["machineType"]
    permitted = network.get("permitBridgeInterfaceOnPodNetwork")
    return Configuration(
        architecture=architecture,
        machine_type=spec.get("machineType") or "",
        machine_types=machine_types,
        cpu_request=quantity.canonical(str(spec.get("cpuRequest") or CPU_REQUEST)),
        network_interface=network.get("defaultNetworkInterface") or "bridge",
        bridge_permitted=permitted is None or bool(permitted),
        eviction_strategy=spec.get("evictionStrategy") or "None",
        memory_overcommit=(spec.get("developerConfiguration") or {}).get("memoryOvercommit") or 100,
    )


def is_valid(spec: dict[str, Any]) -> bool:
    """Whether KubeVirt accepts a configuration (`spec.configuration`); otherwise it uses its defaults."""
    developer = spec.get("developerConfiguration") or {}
    try:
        quantity.parse(str(spec.get("cpuRequest") or CPU_REQUEST))
    except errors.QuantityError:
        return False
    return (
        (spec.get("imagePullPolicy") or "Always") in ("Always", "Never", "IfNotPresent")
        and ((spec.get("network") or {}).get("defaultNetworkInterface") or "bridge") in _NETWORK_INTERFACES
        and (developer.get("memoryOvercommit") or 100) > 0
        and (developer.get("cpuAllocationRatio") or 10) > 0
        and 0 <= (developer.get("pvcTolerateLessSpaceUpToPercent") or 0) <= 100
    )
