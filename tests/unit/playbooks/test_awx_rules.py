"""The rules of awx_rules are those by which the real AWX wrote files and refused requests."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from awx_rules import Refused, extra_vars_file, launch, schedule

RECORDED = Path(__file__).parent / "awx_recorded"
SURVEYS = Path(__file__).resolve().parents[3] / "playbooks" / "awx" / "surveys"
# The rules of a schedule's calendar are not looked at.
REFUSED = [case for case in json.loads((RECORDED / "refused.json").read_text()) if "rrule" not in case["answer"]]


class Loader(yaml.SafeLoader):
    """Reads a marked text as the text that it is."""


Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.extravars")), ids=lambda path: path.stem)
def test_files_are_written_as_recorded(path: Path) -> None:
    text = path.read_text()
    trusted = {"revision_refresh_group": "all"} if text.startswith("revision_refresh_group: all\n") else {}
    assert extra_vars_file(yaml.load(text, Loader), trusted) == text


def survey_spec(name: str) -> list[dict[str, Any]]:
    """A survey as it was when the answers were recorded: with required questions, and without the choice "broken"."""
    spec = json.loads((SURVEYS / f"{name}.json").read_text())["spec"]
    optional = ("fleet_report_label_selectors", "fleet_report_fail_if", "revision_refresh_label_selectors")
    newer = (
        "revision_refresh_replace",
        "revision_refresh_windows",
        "revision_refresh_deadline",
        "revision_refresh_time_zone",
    )
    return [
        {
            **question,
            "required": question["variable"] not in optional,
            "choices": [choice for choice in question.get("choices") or [] if choice != "broken"],
        }
        for question in spec
        if question["variable"] not in newer
    ]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["what"])
def test_requests_are_answered_as_recorded(case: dict[str, Any]) -> None:
    body, answer = case["body"], case["answer"]
    sent = body.get("extra_vars", body.get("extra_data"))
    spec = survey_spec("refresh_revisions" if "refresh" in case["what"] else "fleet_report")
    decide = schedule if case["request"].endswith("/schedules/") else launch
    if case["status"] == 400:
        with pytest.raises(Refused) as error:
            decide(spec, sent)
        assert error.value.answer == answer
    else:
        assert re.findall(r'"(\w+)": ', answer["extra_vars"]) == [
            question["variable"] for question in spec if question["variable"] in decide(spec, sent)
        ]
