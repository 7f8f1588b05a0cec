"""Whether virt-operator deploys the common instancetypes, by KubeVirt's rules."""

from __future__ import annotations

from typing import Any, Final

from ..kubevirt.vmi.cluster import KubeVirt

SINCE: Final = "1.4"
"""The first release with the field. From 1.1 on a feature gate decided."""
FIELD: Final = "commonInstancetypesDeployment"
_GATE: Final = "CommonInstancetypesDeploymentGate"


def deploys(kubevirt: KubeVirt) -> bool | None:
    """None if the configuration is unknown."""
    if kubevirt.assumption:
        return None
    if not kubevirt.release.has(SINCE):
        return _GATE in ((kubevirt.settings.get("developerConfiguration") or {}).get("featureGates") or ())
    return (kubevirt.settings.get(FIELD) or {}).get("enabled") is not False


def patch(enabled: bool) -> dict[str, Any]:
    """The merge patch of the KubeVirt object."""
    return {"spec": {"configuration": {FIELD: {"enabled": enabled}}}}
