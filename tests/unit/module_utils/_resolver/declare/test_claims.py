"""Which claims a VM uses, and which outlive it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.claims import claims, owned_by


def test_claims_of_all_sorts_of_volumes_each_once() -> None:
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "disk"}},
        {"name": "b", "dataVolume": {"name": "imported"}},
        {"name": "c", "ephemeral": {"persistentVolumeClaim": {"claimName": "base"}}},
        {"name": "d", "containerDisk": {"image": "x"}},
        {"name": "e", "persistentVolumeClaim": {"claimName": "disk"}},
        {"name": "f", "memoryDump": {"claimName": "dump"}},
    ]
    assert claims({"spec": {"template": {"spec": {"volumes": volumes}}}}) == ["disk", "imported", "base", "dump"]
    assert claims({"spec": {"template": {"spec": {}}}}) == []


@pytest.mark.parametrize(("owners", "owned"), [(["1"], True), (["2"], False), (["1", "2"], False), ([], False)])
def test_owned_means_gone_with_its_only_owner(owners: list[str], owned: bool) -> None:
    manifest: dict[str, Any] = {"metadata": {"ownerReferences": [{"uid": uid} for uid in owners]}}
    assert owned_by(manifest, "1") is owned
