"""What of a cluster's KubeVirt configuration decides on the defaults of VMs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ...api import errors, quantity

Spec = dict[str, Any]


DEFAULT_ARCHITECTURE: Final = "amd64"
_MACHINE_TYPES: Final = {"amd64": "q35", "arm64": "virt", "s390x": "s390-ccw-virtio"}
CPU_REQUEST: Final = "100m"
_NETWORK_INTERFACES: Final = ("bridge", "masquerade", "slirp")


class Configuration(NamedTuple):
    """What of a cluster's KubeVirt configuration matters here, with KubeVirt's own defaults.

    architecture: that of VMs which name none. machine_type: "" or the machine type of all VMs.
    machine_types: the machine type for an architecture. cpu_request: a quantity.
    network_interface: bridge, masquerade or slirp. bridge_permitted: whether bridge may be used on the pod network.
    memory_overcommit: the guests' memory in percent of the requests of their pods.
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

    KubeVirt does not use a configuration with a value that it refuses, but its defaults; so does this.
    """
    spec = spec or {}
    if not is_valid(spec):
        return Configuration()
    network = spec.get("network") or {}
    machine_types = dict(_MACHINE_TYPES)
    for name, entry in (spec.get("architectureConfiguration") or {}).items():
        # KubeVirt has no setting for s390x.
        if name in ("amd64", "arm64") and (entry or {}).get("machineType"):
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
    """Whether KubeVirt uses a configuration (`spec.configuration`); one that it refuses counts as none."""
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
