"""Every group of the project's copy of the vectors, one test each; with the built-in catalog for its objects."""

from pathlib import Path

import pytest
from report import failures, groups, load
from vector_run import counted, failure_summary

HERE = Path(__file__).parent
# The questions that KubeVirt's own code was asked; a copy that lacks some would prove less. Vectors of older releases
# count the cases of the main set whose results are the same.
CASES = {
    "vectors": {
        "apply": 761,
        "expand": 231,
        "infer": 122,
        "quantity": 208,
        "random": 1161,
        "requirements": 3670,
        "revision": 40,
        "upgrade": 41,
        "validate": 122,
    },
    "vectors-versions": {"apply": 7075, "decode": 378, "expand": 1891, "revision": 330},
}


@pytest.mark.parametrize(("folder", "group"), [(folder, group) for folder in CASES for group in groups(HERE / folder)])
def test_answers_equal_the_recorded(folder: str, group: str) -> None:
    cases = load(HERE / folder, group)
    result = list(failures(group, cases))
    assert not result, failure_summary(result, len(cases))


@pytest.mark.parametrize("folder", CASES)
def test_no_case_is_missing(folder: str) -> None:
    assert counted(HERE / folder, groups(HERE / folder), load) == CASES[folder]
