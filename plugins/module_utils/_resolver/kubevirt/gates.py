"""Which of KubeVirt's feature gates are open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..api.behaviour import GATES, Gate
from ..api.release import Release

MULTI_ARCHITECTURE: Final = "MultiArchitecture"
PERSISTENT_STATE: Final = "VMPersistentState"
REFERENCE_POLICY: Final = "InstancetypeReferencePolicy"
LIVE_UPDATE: Final = "VMLiveUpdateFeatures"
PLUG_DECLARED: Final = "DeclarativeHotplugVolumes"
PLUG_BY_REQUEST: Final = "HotplugVolumes"
NETWORKS: Final = "LiveUpdateNADRef"

_ORDINARY: Final = Gate()
_GENERAL: Final = (MULTI_ARCHITECTURE, PERSISTENT_STATE, REFERENCE_POLICY)


def is_open(name: str, release: Release, developer_configuration: Mapping[str, Any]) -> bool:
    """Whether a feature is available; a gate that is both enabled and disabled is open (featuregate.IsEnabled).

    developer_configuration: the developerConfiguration of the cluster's KubeVirt.
    """
    gate = GATES.get(name, _ORDINARY)
    if not is_known(name, release):
        return False
    if release.has(gate.retired):
        return True
    if name in (developer_configuration.get("featureGates") or ()):
        return True
    return release.has(gate.default) and name not in (developer_configuration.get("disabledFeatureGates") or ())


def is_known(name: str, release: Release) -> bool:
    """Whether a release knows the gate."""
    return release.has(GATES.get(name, _ORDINARY).known)


def required(release: Release) -> frozenset[str]:
    """The gates that a release needs for features of VMs that later ones have without."""
    return frozenset(name for name in _GENERAL if not release.has(GATES[name].retired))
