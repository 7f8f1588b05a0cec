"""Which claims a VM uses, and which outlive it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight.references import (
    claim_names,
    sole_owner,
)


def test_claims_of_all_volumes_without_duplicates() -> None:
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "disk"}},
        {"name": "b", "dataVolume": {"name": "imported"}},
        {"name": "c", "ephemeral": {"persistentVolumeClaim": {"claimName": "base"}}},
        {"name": "d", "containerDisk": {"image": "x"}},
        {"name": "e", "persistentVolumeClaim": {"claimName": "disk"}},
        {"name": "f", "memoryDump": {"claimName": "dump"}},
    ]
    assert claim_names({"spec": {"template": {"spec": {"volumes": volumes}}}}) == ["disk", "imported", "base", "dump"]
    assert claim_names({"spec": {"template": {"spec": {}}}}) == []


@pytest.mark.parametrize(("owners", "only"), [(["1"], "1"), (["1", "2"], ""), ([], "")])
def test_sole_owner(owners: list[str], only: str) -> None:
    manifest: dict[str, Any] = {"metadata": {"ownerReferences": [{"uid": uid} for uid in owners]}}
    assert sole_owner(manifest) == only
