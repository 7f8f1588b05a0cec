"""Settings of a cluster's KubeVirt for running guests."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.config.cluster import (
    kubevirt_of,
)

DECLARED, REQUESTED, NETWORKS = "DeclarativeHotplugVolumes", "HotplugVolumes", "LiveUpdateNADRef"


@pytest.mark.parametrize(
    ("version", "gates", "expected"),
    [
        ("1.9.0", {}, True),
        ("1.9.0", {"disabledFeatureGates": [DECLARED]}, False),
        ("1.9.0", {"featureGates": [DECLARED], "disabledFeatureGates": [DECLARED]}, True),
        ("1.9.0", {"featureGates": [REQUESTED]}, False),
        ("1.9.0", {"featureGates": [REQUESTED, DECLARED]}, False),
        ("1.8.4", {}, False),
        ("1.8.4", {"featureGates": [DECLARED]}, True),
    ],
)
def test_declared_volumes_are_plugged_in(version: str, gates: dict[str, Any], expected: bool) -> None:
    manifest = {"spec": {"configuration": {"developerConfiguration": gates}}}
    assert kubevirt_of(manifest, version).plugs_volumes is expected


@pytest.mark.parametrize(
    ("version", "gates", "expected"),
    [
        ("1.9.0", [], True),
        ("1.8.4", [], False),
        ("1.8.4", [NETWORKS], True),
        # Releases that do not know the gate.
        ("1.7.0", [NETWORKS], False),
    ],
)
def test_networks_of_running_guests_change(version: str, gates: list[str], expected: bool) -> None:
    manifest = {"spec": {"configuration": {"developerConfiguration": {"featureGates": gates}}}}
    assert kubevirt_of(manifest, version).changes_networks is expected
