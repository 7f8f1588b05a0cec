"""Every group of the project's copy of the boot sources' vectors, and that a difference is one."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from boot_cases import failures, groups, load
from upload_flags import wish
from vector_run import counted, failure_summary

VECTORS = Path(__file__).parent / "vectors"
MODULE = Path(__file__).parents[2] / "plugins" / "modules" / "boot_source.py"
# CDI's own code and virtctl were asked these numbers of cases; a copy that lacks some would prove less.
CASES = {"env-to-label": 36, "image-upload": 217, "schedule": 44, "webhook": 144}


@pytest.mark.parametrize("group", groups(VECTORS))
def test_answers_equal_the_recorded(group: str) -> None:
    cases = load(VECTORS, group)
    result = list(failures(group, cases))
    assert not result, failure_summary(result, len(cases))


def test_no_case_is_missing() -> None:
    assert counted(VECTORS, groups(VECTORS), load) == CASES


def reasons(group: str, case: dict[str, Any]) -> list[str]:
    return [reason for failure in failures(group, [case]) for reason in failure.reasons]


def case_of(group: str, identity: str) -> dict[str, Any]:
    return deepcopy(next(case for case in load(VECTORS, group) if case["id"] == identity))


def test_different_answer_is_reported_but_parser_panic_accepted() -> None:
    case = case_of("webhook/datavolumes", "webhook-datavolumes-005")
    case["expect"]["message"] = " no"
    case["expect"]["causes"][0]["field"] = "spec"
    assert reasons("webhook/datavolumes", case) == [
        'causes[0].field: expected "spec", got "spec.source.HTTP.url"',
        'message: expected " no", got " spec.source source URL is empty"',
    ]
    case = case_of("env-to-label/env-to-label", "env-036")
    case["expect"]["labels"] = {}
    assert reasons("env-to-label/env-to-label", case)[0].startswith("labels.test.test.kubevirt.io/test-test: expected")
    case = case_of("schedule/schedule", "schedule-042")
    case["expect"] = {"ok": False, "error": "no"}
    assert reasons("schedule/schedule", case) == ["ok: expected false, got true"]
    panic = "PANIC: runtime error: slice bounds out of range [:-1]"
    assert reasons("schedule/schedule", {**case, "schedule": "TZ=UTC", "expect": {"ok": False, "error": panic}}) == []


def test_changed_upload_request_object_or_error_is_reported() -> None:
    group, identity = "image-upload/datasource", "datasource-002"
    case = case_of(group, identity)
    assert reasons(group, case) == []
    del case["expect"]["requests"][1]["body"]["metadata"]["labels"]["instancetype.kubevirt.io/default-preference"]
    case["expect"]["objects"][0]["object"]["spec"]["accessModes"] = ["ReadWriteMany"]
    case["expect"]["requests"].pop()
    case["expect"]["error"] = "no"
    result = reasons(group, case)
    assert 'error: expected "no", got null' in result
    assert any("accessModes[0]" in reason for reason in result)
    assert any("default-preference: expected nothing" in reason for reason in result)
    assert any(reason.startswith("requests[7]: expected nothing") for reason in result)


def test_upload_without_labels_matches_the_recording() -> None:
    group = "image-upload/existing"
    case = case_of(group, "existing-029")
    case["args"] = [word for word in case["args"] if not word.startswith("--default")]
    # Without labels nothing is written to the existing claim, so the recording holds as it is.
    assert reasons(group, case) == []


def test_virtctl_flags_are_options_of_the_module() -> None:
    documentation = re.search(r'DOCUMENTATION = r"""(.*?)"""', MODULE.read_text(), re.DOTALL)
    assert documentation
    options = yaml.safe_load(documentation[1])["options"]
    requested = wish(["dv", "golden", "--image-path", "a", "--default-instancetype", "b"], "default").options
    assert requested.keys() <= options.keys()
    for name in ("upload", "upload_proxy", "instancetype"):
        assert requested[name].keys() <= options[name]["suboptions"].keys()
