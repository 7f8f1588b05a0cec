"""Every group of the project's copy of the vectors, one test each; with the built-in catalog for its objects."""

from pathlib import Path

import pytest
from bundles import Bundles
from cases import groups, load
from report import failures
from vector_run import counted, failure_summary

VECTORS = Path(__file__).parent / "vectors"
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
def test_answers_equal_the_recorded(group: str, built_in: Bundles) -> None:
    cases = load(VECTORS, group)
    result = list(failures(cases, built_in))
    assert not result, failure_summary(result, len(cases))


def test_no_case_is_missing() -> None:
    assert counted(VECTORS, groups(VECTORS), load) == CASES
