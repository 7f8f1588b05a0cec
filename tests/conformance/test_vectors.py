"""Every group of the project's copy of the vectors, one test each; with the built-in catalog for its objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from bundles import Bundles
from cases import groups, load
from report import failures

VECTORS = Path(__file__).parent / "vectors"
SHOWN = 5
# What KubeVirt's own code was asked; a copy that lacks some would prove less.
CASES = {
    "apply": 761,
    "expand": 243,
    "infer": 122,
    "quantity": 208,
    "random": 2950,
    "requirements": 3670,
    "revision": 40,
    "types": 211,
    "upgrade": 41,
    "validate": 122,
}


@pytest.fixture(scope="module")
def built_in() -> Bundles:
    """The built-in catalog, read once."""
    return Bundles()


@pytest.mark.parametrize("group", groups(VECTORS))
def test_group(group: str, built_in: Bundles) -> None:
    cases = load(VECTORS, group)
    found = list(failures(cases, built_in))
    told = "\n\n".join(map(str, found[:SHOWN]))
    assert not found, f"{len(found)} of {len(cases)} cases failed\n\n{told}"


def test_no_case_is_missing() -> None:
    counted: dict[str, int] = {}
    for group in groups(VECTORS):
        folder = group.partition("/")[0]
        counted[folder] = counted.get(folder, 0) + len(load(VECTORS, group))
    assert counted == CASES
