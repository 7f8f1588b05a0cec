"""Every group of the project's copy of virtctl's vectors, and that a difference is one."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from command_line import Syntax, parse
from vector_run import counted, failure_summary
from virtctl_cases import failures, groups, load

VECTORS = Path(__file__).parent / "vectors"
# virtctl was asked these numbers of cases; a copy that lacks some would prove less.
CASES = {"instancetype": 70, "preference": 36, "vm": 951}


@pytest.mark.parametrize("group", groups(VECTORS))
def test_answers_equal_the_recorded(group: str) -> None:
    cases = load(VECTORS, group)
    result = list(failures(group, cases))
    assert not result, failure_summary(result, len(cases))


def test_no_case_is_missing() -> None:
    assert counted(VECTORS, groups(VECTORS), load) == CASES


def case_of(group: str, name: str) -> dict[str, Any]:
    return deepcopy(next(case for case in load(VECTORS, group) if case["name"] == name))


def reasons(group: str, case: dict[str, Any]) -> list[str]:
    return [reason for failure in failures(group, [case]) for reason in failure.reasons]


def test_different_manifest_is_reported() -> None:
    case = case_of("vm/examples", "everything")
    case["expect"]["manifest"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1
    del case["expect"]["manifest"]["spec"]["preference"]
    assert reasons("vm/examples", case) == [
        'spec.preference: expected nothing, got {"inferFromVolume": "root"}',
        "spec.template.spec.terminationGracePeriodSeconds: expected 1, got 0",
    ]


def test_different_error_or_warnings_are_reported() -> None:
    case = case_of("vm/pvc", "duplicate-name")
    case["expect"]["error"] = 'failed to parse "--volume-pvc" flag: bootorder 1 was specified multiple times'
    assert "there is already a volume" in reasons("vm/pvc", case)[0]
    case["args"] = ["--name=a"]
    assert "got a manifest" in reasons("vm/pvc", case)[0]
    case = case_of("vm/examples", "user-and-password-file")
    del case["expect"]["warnings"]
    assert reasons("vm/examples", case)[0].startswith('warnings[0]: expected nothing, got "WARNING: --password-file:')


def test_wrong_name_pattern_or_unequal_names_are_reported() -> None:
    case = case_of("vm/import_types", "random-name-blank")
    case["expect"]["manifest"]["spec"]["dataVolumeTemplates"][0]["metadata"]["name"]["$random"] = "^other-"
    case["same"] = [[["metadata", "name"], ["spec", "dataVolumeTemplates", 0, "metadata", "name"]]]
    case["expect"].pop("same", None)
    assert [reason.partition(":")[0] for reason in reasons("vm/import_types", case)][:1] == [
        "spec.dataVolumeTemplates[0].metadata.name"
    ]
    assert "should have the same name" in reasons("vm/import_types", case)[1]


@pytest.mark.parametrize(("text", "value"), [("0x10", 16), ("-010", -8), ("1_000", 1000), ("0b1_1", 3), ("0", 0)])
def test_numbers_are_parsed_like_go(text: str, value: int) -> None:
    assert parse("vm", [f"--termination-grace-period={text}"]).last("termination-grace-period") == value


@pytest.mark.parametrize("text", ["", "1_", "_1", "1__0", "08", "0x", "1e3", " 1", "9223372036854775808"])
def test_numbers_rejected_by_go_are_refused(text: str) -> None:
    with pytest.raises(Syntax, match="ParseInt"):
        parse("vm", [f"--termination-grace-period={text}"])
