"""KubeVirt's feature gates: which are open (pkg/virt-config/featuregate)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..webhooks.admission import NOT_SUPPORTED, Cause

# Gates of removed bindings → the binding.
_DISCONTINUED: Final = {"Passt": "passt", "Macvtap": "macvtap"}


def is_open(gate: str, developer_configuration: dict[str, Any], on: frozenset[str]) -> bool:
    """Whether a gate is open; a gate that is both enabled and disabled is open (featuregate.IsEnabled).

    on: the gates that are open by default.
    """
    if gate in (developer_configuration.get("featureGates") or []):
        return True
    if gate in (developer_configuration.get("disabledFeatureGates") or []):
        return False
    return gate in on


def discontinued(spec: dict[str, Any], developer_configuration: dict[str, Any]) -> Iterator[Cause]:
    """Causes if a new VM uses a discontinued feature and its gate is set (featuregate.ValidateFeatureGates)."""
    interfaces = spec["domain"]["devices"].get("interfaces", ())
    for gate in developer_configuration.get("featureGates") or []:
        binding = _DISCONTINUED.get(gate)
        if binding is not None and any(binding in interface for interface in interfaces):
            remedy = "Please refer to Kubevirt user guide for alternatives."
            yield Cause(NOT_SUPPORTED, f"{gate} network binding is discontinued since v1.3. {remedy}", "")
