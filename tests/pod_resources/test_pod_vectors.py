"""Every group of the project's copy of the pods' vectors, and that a difference is one."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pod_cases import failures, groups, load
from vector_run import counted, failure_summary

VECTORS = Path(__file__).parent / "vectors"
# KubeVirt's own code was asked these numbers of cases; a copy that lacks some would prove less.
CASES = {
    "vectors": 2947,
    "vectors-v1.4.1": 1435,
    "vectors-v1.5.3": 1519,
    "vectors-v1.6.6": 1610,
    "vectors-v1.7.4": 1596,
    "vectors-v1.8.4": 1693,
}


@pytest.mark.parametrize("group", groups(VECTORS))
def test_answers_equal_the_recorded(group: str) -> None:
    cases = load(VECTORS, group)
    result = list(failures(group, cases))
    assert not result, failure_summary(result, len(cases))


def test_no_case_is_missing() -> None:
    assert counted(VECTORS, groups(VECTORS), load) == CASES


def reasons(case: dict[str, Any]) -> list[str]:
    return [reason for failure in failures("", [case]) for reason in failure.reasons]


def test_wrong_amount_place_or_order_is_reported() -> None:
    case = deepcopy(load(VECTORS, "vectors/containers")[1])
    assert reasons(case) == []
    case["expect"]["containers"].reverse()
    case["expect"]["nodeSelector"]["zone"] = "a"
    case["expect"]["totalRequests"]["cpu"] = "207m"
    result = reasons(case)
    assert 'containers[0].name: expected "volumeroot", got "compute"' in result
    assert 'nodeSelector.zone: expected "a", got nothing' in result
    assert "totalRequests.cpu: expected 207000000, got 206000000" in result


def test_another_spelling_of_an_amount_is_equal() -> None:
    case = deepcopy(load(VECTORS, "vectors/containers")[1])
    case["expect"]["totalRequests"]["cpu"] = "0.206"
    assert reasons(case) == []


def test_missing_error_is_reported() -> None:
    case = deepcopy(load(VECTORS, "vectors/containers")[1])
    case["expect"] = {"error": "no", "overhead": case["expect"]["overhead"]}
    assert "error: expected true, got nothing" in reasons(case)
