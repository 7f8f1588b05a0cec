"""The surveys of the job templates: what AWX makes of their defaults is read as the text that was meant."""

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader

from awx_rules import extra_vars_file, launch
from plugins.plugin_utils._filter_functions.variables import survey

SURVEYS = sorted((Path(__file__).resolve().parents[3] / "playbooks" / "awx" / "surveys").glob("*.json"))
# AWX itself could not give these to a job: YAML has another use for them.
SYNTAX = ("*", "&", "!", "=", "<<")


def extra_vars_of(variables: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The variables that ansible-core reads from the file that AWX writes."""
    path = folder / "extravars"
    path.write_text(extra_vars_file(variables, {}))
    result: dict[str, Any] = DataLoader().load_from_file(str(path))
    return result


@pytest.mark.parametrize("path", SURVEYS, ids=lambda path: path.stem)
def test_a_launch_by_the_api_needs_no_variables(path: Path, tmp_path: Path) -> None:
    spec = json.loads(path.read_text())["spec"]
    variables = launch(spec, {})
    read = extra_vars_of(variables, tmp_path)
    assert list(read) == list(variables)
    for question in spec:
        name, default = question["variable"], question["default"]
        assert default not in SYNTAX
        if question["type"] == "text":
            assert survey(read[name]) == default
        elif question["type"] == "multiplechoice" and set(question["choices"]) == {"true", "false"}:
            assert str(read[name]).lower() == default
        elif name in read:
            assert read[name] == default


@pytest.mark.parametrize("answer", ["", "0", "1.7", "20%", "*,shop", "shop, office", "2026-01-31", "v1.7.0", "{{ x }}"])
def test_answers(answer: str, tmp_path: Path) -> None:
    assert survey(extra_vars_of({"answer": answer}, tmp_path)["answer"]) == answer
