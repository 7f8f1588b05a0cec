"""Preferred interfaces."""

from typing import Any

from plugins.module_utils._resolver.api import release
from plugins.module_utils._resolver.kubevirt.preference import interface

MASQUERADE: dict[str, Any] = {"preferredInterfaceMasquerade": {}}
NETWORKS = [{"name": "pod", "pod": {}}, {"name": "lan", "multus": {"networkName": "lan"}}]


def with_masquerade(*interfaces: dict[str, Any], at: str | None = None) -> list[dict[str, Any]]:
    devices = {"interfaces": [dict(entry) for entry in interfaces]}
    if at is None:
        interface.interfaces(MASQUERADE, devices, NETWORKS)
    else:
        interface.interfaces(MASQUERADE, devices, NETWORKS, release.parse_release(at))
    return devices["interfaces"]


def test_masquerade_applies_only_to_pod_network_without_binding() -> None:
    bridged, other, lost, plain = ({"name": name} for name in ("pod", "lan", "nowhere", "pod"))
    bridged["bridge"] = {}
    assert with_masquerade(bridged, other, lost, plain) == [bridged, other, lost, {"name": "pod", "masquerade": {}}]
