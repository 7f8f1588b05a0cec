"""Instancetypes and preferences that do not go together."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.choose.fitting import rejection_of_pair


def size(vcpus: Any) -> dict[str, Any]:
    return {"spec": {"cpu": {"guest": vcpus}, "memory": {"guest": "2Gi"}}}


@pytest.mark.parametrize(
    ("vcpus", "preference", "architecture", "expected"),
    [
        (2, {}, "", ""),
        (3, {"cpu": {"preferredCPUTopology": "spread"}}, "", "not divisible"),
        (2, {"requirements": {"cpu": {"guest": 4}}}, "", "4"),
        (2, {"requirements": {"architecture": "arm64"}}, "amd64", "arm64"),
        (2, {"requirements": {"architecture": "arm64"}}, "", ""),
        ("many", {}, "", "many"),
    ],
)
def test_rejection_of_pair_in_the_words_of_kubevirt(
    vcpus: Any, preference: dict[str, Any], architecture: str, expected: str
) -> None:
    answer = rejection_of_pair(size(vcpus), {"spec": preference}, architecture, release.NEWEST)
    assert expected in answer
    assert bool(answer) == bool(expected)
