"""What GitHub runs is what anybody can run: targets of the Makefile."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_are_targets_of_the_makefile(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert commands
    for command in commands:
        program, *targets = command.split()
        assert program == "make" and targets and set(targets) <= TARGETS, command


def test_each_change_runs_the_test_command() -> None:
    whole = next(path for path in WORKFLOWS if path.stem == "test").read_text()
    assert "pull_request:" in whole and "- run: make test\n" in whole
    assert "exec make test\n" in (CHECKOUT / ".ci" / "run").read_text()
