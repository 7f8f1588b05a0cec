"""GitHub runs targets of the Makefile, which anybody can run."""

import itertools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_are_targets_of_the_makefile(path: Path) -> None:
    result = [command for job in yaml.safe_load(path.read_text())["jobs"].values() for command in commands(job)]
    assert result
    for command in result:
        program, target, *settings = shlex.split(command)
        assert program == "make" and target in TARGETS, command
        assert all(re.match(r"[A-Z]+=", setting) for setting in settings), command


def commands(job: dict[str, Any]) -> list[str]:
    """The commands of a job, for each entry of its matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    given = [dict(zip(matrix, values)) for values in itertools.product(*matrix.values())]
    return [filled(step["run"], entry) for step in job["steps"] if "run" in step for entry in given]


def filled(text: str, entry: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda result: entry[result[1]], text)


def test_each_change_runs_all_test_jobs() -> None:
    whole = yaml.safe_load(next(path for path in WORKFLOWS if path.stem == "test").read_text())
    run = {command.split()[1] for job in whole["jobs"].values() for command in commands(job)}
    assert {"lint", "sanity", "unit", "integration"} <= run
    assert "exec make test\n" in (CHECKOUT / ".ci" / "run").read_text()


def test_each_change_runs_sanity_of_many_versions() -> None:
    jobs = yaml.safe_load(next(path for path in WORKFLOWS if path.stem == "test").read_text())["jobs"]
    versions = set(jobs["versions"]["strategy"]["matrix"]["core"])
    listed = re.findall(r"^SANITY = \((.*)\)$", (CHECKOUT / "noxfile.py").read_text(), re.MULTILINE)[0]
    assert {"2.16", "2.18", "2.20", "2.21", "2.22"} <= versions <= set(re.findall(r'"([0-9.]+)"', listed))


def test_the_nightly_run_has_every_session() -> None:
    pythons = re.findall(r"^PYTHONS = \{(.*?)\}$", (CHECKOUT / "noxfile.py").read_text(), re.MULTILINE | re.DOTALL)[0]
    sessions = [f"core({core})" for core in re.findall(r'"([0-9.]+)": ', pythons)]
    nightly = yaml.safe_load(next(path for path in WORKFLOWS if path.stem == "nightly").read_text())
    assert nightly["jobs"]["versions"]["strategy"]["matrix"]["session"] == [*sessions, "oldest"]
