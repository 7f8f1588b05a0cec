"""Preferred model and binding of network interfaces (KubeVirt ``applyInterfacePreferences``)."""

from __future__ import annotations

from typing import Any, Final

_BINDINGS: Final = ("bridge", "slirp", "masquerade", "sriov", "macvtap", "passt", "passtBinding", "binding")


def interfaces(preferred: dict[str, Any], devices: dict[str, Any], networks: list[dict[str, Any]]) -> None:
    """Masquerade applies only to an interface without a binding on the pod network."""
    for interface in devices.get("interfaces", ()):
        if preferred.get("preferredInterfaceModel"):
            interface.setdefault("model", preferred["preferredInterfaceModel"])
        if "preferredInterfaceMasquerade" not in preferred:
            continue
        if any(binding in interface for binding in _BINDINGS):
            continue
        network = next((network for network in networks if network["name"] == interface["name"]), {})
        if "pod" in network:
            interface["masquerade"] = {}
