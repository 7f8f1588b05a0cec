"""Every group of the project's copy of the templates' vectors, and that a difference is one."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from template_cases import failures, groups, load
from vector_run import counted, failure_summary

VECTORS = Path(__file__).parent / "vectors"
# virt-template and virtctl were asked these numbers of cases; a copy that lacks some would prove less.
CASES = {"convert": 100, "generate": 107, "process": 562, "process-random": 310, "validate": 252}


@pytest.mark.parametrize("group", groups(VECTORS))
def test_answers_equal_the_recorded(group: str) -> None:
    cases = load(VECTORS, group)
    result = list(failures(group, cases))
    assert not result, failure_summary(result, len(cases))


def test_no_case_is_missing() -> None:
    assert counted(VECTORS, groups(VECTORS), load) == CASES


def reasons(case: dict[str, Any]) -> list[str]:
    return [reason for failure in failures("", [case]) for reason in failure.reasons]


def case_of(group: str, identity: str) -> dict[str, Any]:
    return deepcopy(next(case for case in load(VECTORS, group) if case["id"] == identity))


def test_different_vm_warning_or_error_is_reported() -> None:
    case = case_of("process", "syntax-001")
    case["expect"]["substituted"]["metadata"]["annotations"]["x"] = "other"
    case["expect"]["warnings"] = []
    result = reasons(case)
    assert result[0] == 'substituted.metadata.annotations.x: expected "other", got "va"'
    assert result[1].startswith("warnings[0]: expected nothing")
    case = case_of("process", "params-016")
    case["expect"]["error"]["errors"][0]["field"] = "spec.message"
    assert reasons(case) == ["field: expected spec.message, got spec.virtualMachine"]
    del case["expect"]["error"]
    assert reasons(case)[0].startswith("refused: expected nothing")


def test_different_generated_value_is_reported() -> None:
    case = case_of("process", "generated-001")
    case["expect"]["generated"]["NAME"] = "web-[0-9]"
    assert reasons(case)[0].startswith("generated.NAME: expected a match of web-[0-9]")
    case = case_of("generate", "generate-001")
    case["expect"]["distinct_in_300"] = 1
    assert reasons(case)[0].startswith("expected about 1 different values in 300")
    case["expect"]["length"] = 4
    assert reasons(case)[0].startswith("expected 4 characters that match")
    case["expect"] = {"error": "no"}
    assert reasons(case)[0].startswith("expected the error 'no'")
    case = case_of("generate", "generate-001")
    case["input"]["from"] = "[z-a]{3}"
    assert reasons(case) == ["refused: z-a is no range; write one such as a-z, A-Z, a-Z or 0-9"]


def test_different_webhook_or_virtctl_answer_is_reported() -> None:
    case = case_of("validate", "validate-014")
    case["expect"] = {"allowed": True}
    assert [reason.partition(":")[0] for reason in reasons(case)] == ["allowed"]
    case = case_of("convert", "convert-079")
    case["expect"] = {"template": {}}
    assert reasons(case) == ["refused: template must contain exactly one object, found 0"]
