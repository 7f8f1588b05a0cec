"""KubeVirt's feature gates: which releases know, open and need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ...api.release import Release


class Gate(NamedTuple):
    """The releases in which a gate begins to be known (before, it is closed), to be open unless
    `disabledFeatureGates` names it, and not to be needed; "" for none.
    """

    known: str = ""
    default: str = ""
    retired: str = ""


MULTI_ARCHITECTURE: Final = "MultiArchitecture"
PERSISTENT_STATE: Final = "VMPersistentState"
REFERENCE_POLICY: Final = "InstancetypeReferencePolicy"
LIVE_UPDATE: Final = "VMLiveUpdateFeatures"
PLUG_DECLARED: Final = "DeclarativeHotplugVolumes"
PLUG_DECLARED_SINCE: Final = "1.6"
PLUG_BY_REQUEST: Final = "HotplugVolumes"
NETWORKS: Final = "LiveUpdateNADRef"

_ORDINARY: Final = Gate()
# An ordinary gate is closed unless `featureGates` names it, in all releases. All others are here.
_GATES: Final = {
    "AutoResourceLimitsGate": Gate(retired="1.5"),
    "ConfigurableHypervisor": Gate("1.8"),
    "CrossArchitectureVirtualization": Gate("1.9"),
    "DecentralizedLiveMigration": Gate(default="1.10"),
    "EnableVirtioFsConfigVolumes": Gate(retired="1.8"),
    "ExternalNetResourceInjection": Gate("1.8", "1.9"),
    "GPUsWithDRA": Gate("1.6", "1.9"),
    "HostDevicesWithDRA": Gate("1.6", "1.9"),
    "IOMMUFD": Gate("1.9"),
    "ImageVolume": Gate("1.6", "1.9"),
    "NetworkBindingPlugins": Gate(retired="1.5"),
    "NetworkDevicesWithDRA": Gate("1.9"),
    "PanicDevices": Gate(retired="1.9"),
    "PasstBinding": Gate(default="1.9"),
    "RebootPolicy": Gate(default="1.9"),
    "SecureExecution": Gate(retired="1.9"),
    "VideoConfig": Gate(retired="1.9"),
    "VmiMemoryOverheadReport": Gate("1.8", "1.9"),
    "VSOCK": Gate(default="1.10"),
    "WorkloadEncryptionSEV": Gate(default="1.9"),
    LIVE_UPDATE: Gate(retired="1.5"),
    MULTI_ARCHITECTURE: Gate(retired="1.8"),
    NETWORKS: Gate("1.8", retired="1.9"),
    PERSISTENT_STATE: Gate(retired="1.6"),
    PLUG_DECLARED: Gate(PLUG_DECLARED_SINCE, "1.9"),
    REFERENCE_POLICY: Gate(retired="1.6"),
}
_GENERAL: Final = (MULTI_ARCHITECTURE, PERSISTENT_STATE, REFERENCE_POLICY)


def is_open(name: str, release: Release, developer_configuration: Mapping[str, Any]) -> bool:
    """Whether a feature is available; a gate that is both enabled and disabled is open (featuregate.IsEnabled).

    developer_configuration: the developerConfiguration of the cluster's KubeVirt.
    """
    gate = _GATES.get(name, _ORDINARY)
    if gate.known and not release.has(gate.known):
        return False
    if gate.retired and release.has(gate.retired):
        return True
    if name in (developer_configuration.get("featureGates") or ()):
        return True
    by_default = bool(gate.default) and release.has(gate.default)
    return by_default and name not in (developer_configuration.get("disabledFeatureGates") or ())


def required(release: Release) -> frozenset[str]:
    """The gates that a release needs for features of VMs that later ones have without."""
    return frozenset(name for name in _GENERAL if not release.has(_GATES[name].retired))
