"""Every group of the project's copy of the vectors of older releases, one test each."""

from pathlib import Path

import pytest
from bundles import Bundles
from cases import groups
from releases import load
from report import failures
from vector_run import counted, failure_summary

VECTORS = Path(__file__).parent / "vectors-versions"
# Of all releases; with the cases of the main set whose results are the same.
CASES = {"apply": 8638, "decode": 378, "expand": 2053, "revision": 330}


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
