"""Whether virt-operator deploys the common instancetypes, by KubeVirt's rules."""

from __future__ import annotations

from typing import Any, Final

from ..kubevirt.vmi.cluster import KubeVirt
from .labels import MANAGED_BY_LABEL, labels_of

SINCE: Final = "1.4"
"""The first release with the field. From 1.1 on a feature gate decided."""
OPERATOR: Final = "virt-operator"
FIELD: Final = "commonInstancetypesDeployment"
_GATE: Final = "CommonInstancetypesDeploymentGate"


def deploys(kubevirt: KubeVirt) -> bool | None:
    """Whether virt-operator deploys them; None if the configuration is unknown."""
    if kubevirt.assumption:
        return None
    if not kubevirt.release.has(SINCE):
        return _GATE in ((kubevirt.settings.get("developerConfiguration") or {}).get("featureGates") or ())
    return (kubevirt.settings.get(FIELD) or {}).get("enabled") is not False


def is_deployed(manifest: dict[str, Any]) -> bool:
    """Whether virt-operator has deployed an instancetype or preference, and would delete it."""
    return labels_of(manifest).get(MANAGED_BY_LABEL) == OPERATOR


def patch(enabled: bool) -> dict[str, Any]:
    """The merge patch of the KubeVirt object."""
    return {"spec": {"configuration": {FIELD: {"enabled": enabled}}}}
