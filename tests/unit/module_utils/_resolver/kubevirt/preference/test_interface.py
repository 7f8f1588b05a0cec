"""What a preference does to interfaces."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.preference import interface

MASQUERADE: dict[str, Any] = {"preferredInterfaceMasquerade": {}}
NETWORKS = [{"name": "pod", "pod": {}}, {"name": "lan", "multus": {"networkName": "lan"}}]


def changed(*given: dict[str, Any], at: str | None = None) -> list[dict[str, Any]]:
    devices = {"interfaces": [dict(one) for one in given]}
    if at is None:
        interface.interfaces(MASQUERADE, devices, NETWORKS)
    else:
        interface.interfaces(MASQUERADE, devices, NETWORKS, release.of(at))
    return devices["interfaces"]


def test_masquerade_is_for_the_pod_network_without_a_binding() -> None:
    bridged, other, lost, plain = ({"name": name} for name in ("pod", "lan", "nowhere", "pod"))
    bridged["bridge"] = {}
    assert changed(bridged, other, lost, plain) == [bridged, other, lost, {"name": "pod", "masquerade": {}}]


@pytest.mark.parametrize("at", ["1.0", "1.0.1"])
def test_early_releases_gave_it_to_every_interface(at: str) -> None:
    bridged = {"name": "lan", "bridge": {}}
    assert changed(bridged, {"name": "pod"}, at=at) == [
        {**bridged, "masquerade": {}},
        {"name": "pod", "masquerade": {}},
    ]
