"""Feature gates that releases ask for. That this is what virt-api answers is held by tests/contract/releases."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.admission import (
    cluster_config,
    firmware,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import kubevirt_of

Manifest = dict[str, Any]
ALL = frozenset((release.MULTI_ARCHITECTURE, release.PERSISTENT_STATE))


def config(closed: frozenset[str]) -> cluster_config.ClusterConfig:
    """The configuration of a release that asks for all of them."""
    return cluster_config.ClusterConfig(
        developer={"featureGates": [*(ALL - closed)]}, release=release.parse_release("1.5")
    )


@pytest.mark.parametrize(
    ("spec", "closed", "fields"),
    [
        ({"architecture": "arm64"}, ALL, ["spec.architecture"]),
        ({"architecture": "amd64"}, ALL, []),
        ({}, ALL, []),
        ({"architecture": "arm64"}, frozenset(), []),
    ],
)
def test_another_architecture(spec: Manifest, closed: frozenset[str], fields: list[str]) -> None:
    assert [cause.field for cause in firmware.architecture(spec, "spec", config(closed))] == fields


@pytest.mark.parametrize(
    ("domain", "closed", "fields"),
    [
        ({"devices": {"tpm": {"persistent": True}}}, ALL, ["spec.domain.devices.tpm.persistent"]),
        ({"devices": {"tpm": {"persistent": True, "enabled": False}}}, ALL, []),
        ({"devices": {"tpm": {}}}, ALL, []),
        (
            {"devices": {}, "firmware": {"bootloader": {"efi": {"persistent": True}}}},
            ALL,
            ["spec.domain.firmware.bootloader.efi.persistent"],
        ),
        ({"devices": {"tpm": {"persistent": True}}}, frozenset(), []),
    ],
)
def test_persistent_state(domain: Manifest, closed: frozenset[str], fields: list[str]) -> None:
    assert [cause.field for cause in firmware.persistent_state({"domain": domain}, "spec", config(closed))] == fields


def test_closed_gates() -> None:
    def closed(version: str, *opened: str) -> frozenset[str]:
        spec = {"configuration": {"developerConfiguration": {"featureGates": list(opened)}}}
        return kubevirt_of({"spec": spec}, version).closed_gates

    assert closed("1.9.0") == closed("1.8.0") == frozenset()
    assert closed("1.7.4") == closed("1.6.6") == {release.MULTI_ARCHITECTURE}
    assert closed("1.7.4", release.MULTI_ARCHITECTURE) == frozenset()
    assert closed("1.5.3") == {*ALL, release.REFERENCE_POLICY}
    assert kubevirt_of(None, "1.7.4", "no right").closed_gates == {release.MULTI_ARCHITECTURE}
