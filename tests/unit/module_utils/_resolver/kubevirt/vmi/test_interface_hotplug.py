"""Interfaces that a running VMI gets from its VM."""

from __future__ import annotations

from typing import Any

import pytest
from interface_specs import LAN, POD, spec, state

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import KubeVirt
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.device_hotplug import (
    plugged_interfaces,
)

Manifest = dict[str, Any]


KUBEVIRT = KubeVirt(NEWEST)
WAN = (LAN[0], {"name": "lan", "multus": {"networkName": "wan"}})
SECOND_POD = ({"name": "other", "masquerade": {}}, {"name": "other", "pod": {}})


@pytest.mark.parametrize(
    ("desired", "running", "expected"),
    [
        (spec(POD), spec(POD), spec(POD)),
        (spec(POD, LAN), spec(POD), spec(POD, LAN)),
        (spec(POD, state(LAN, "absent")), spec(POD), spec(POD)),
        (spec(POD, SECOND_POD), spec(POD), spec(POD)),
        (spec(POD, WAN), spec(POD, LAN), spec(POD, WAN)),
        (spec(POD), spec(POD, LAN), spec(POD, LAN)),
        (spec(POD, state(LAN, "down")), spec(POD, LAN), spec(POD, state(LAN, "down"))),
        (spec(POD, LAN), spec(POD, state(LAN, "down")), spec(POD, LAN)),
        (spec(POD, state(LAN, "absent")), spec(POD, LAN), spec(POD, LAN)),
    ],
)
def test_plugged_interfaces(desired: Manifest, running: Manifest, expected: Manifest) -> None:
    assert plugged_interfaces(desired, {"spec": running}, KUBEVIRT) == expected


@pytest.mark.parametrize(("name", "expected"), [("net1", LAN), ("pod1234567", state(LAN, "absent")), ("", LAN)])
def test_unplugging_needs_unnumbered_pod_interfaces(name: str, expected: tuple[Manifest, Manifest]) -> None:
    status = {"interfaces": [{"name": "lan", **({"podInterfaceName": name} if name else {})}]}
    instance = {"spec": spec(POD, LAN), "status": status}
    assert plugged_interfaces(spec(POD, state(LAN, "absent")), instance, KUBEVIRT) == spec(POD, expected)


def test_default_network_does_not_number_interfaces() -> None:
    default = (
        {"name": "default", "bridge": {}},
        {"name": "default", "multus": {"networkName": "lan", "default": True}},
    )
    instance = {"spec": spec(default)}
    assert plugged_interfaces(spec(state(default, "absent")), instance, KUBEVIRT) == spec(state(default, "absent"))


def test_interface_without_network_is_not_plugged() -> None:
    desired = {**spec(POD, LAN), "networks": [POD[1]]}
    assert plugged_interfaces(desired, {"spec": spec(POD)}, KUBEVIRT) == spec(POD)


def test_network_stays_without_feature_gate() -> None:
    kubevirt = KUBEVIRT._replace(changes_networks=False)
    assert plugged_interfaces(spec(POD, WAN), {"spec": spec(POD, LAN)}, kubevirt) == spec(POD, LAN)
