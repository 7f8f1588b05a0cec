"""Coverage of `plugins` by the tests: ``coverage_report.py [--commands] [--known] [PYTEST ARGUMENT ...]``.

Runs pytest, by default on all tests, prints what they leave out, and exits 1 where that is too much. pytest and its
workers are measured, which is where the tests that need no cluster call the code, and costs little. With --commands
so is every Python process that tests start, by default those of the collection itself: ansible-playbook and its forks,
and modules, which run from an archive somewhere else; pyproject.toml says how their paths are brought together. The
servers of the local cluster never are: what only the emulation of KubeVirt does with the resolver, no test has looked
at.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import coverage

CHECKOUT = Path(__file__).resolve().parent.parent
DATA = CHECKOUT / ".cache" / "coverage" / "data"
"""What was measured; while tests run, there is a file for each process beside it."""
SETTINGS = CHECKOUT / "pyproject.toml"
COMMANDS = (
    "tests/unit",
    "tests/conformance",
    "tests/virtctl",
    "tests/integration/modules",
    "tests/integration/playbooks",
    "tests/integration/examples",
)
"""The tests of the collection itself; the others are of the local cluster, or break things on purpose."""
WORKERS = ("--numprocesses", "2", "--dist", "worksteal")


class Goal(NamedTuple):
    """How much of a folder has to be covered, in percent: of its lines, and of its branches."""

    folder: str
    percent: int


GOALS = (Goal("plugins", 95), Goal("plugins/module_utils/_resolver", 100))


def main() -> int:
    """Measures and reports; the exit code is pytest's if that is not 0."""
    parser = argparse.ArgumentParser(description="Coverage of plugins by the tests.")
    parser.add_argument("--commands", action="store_true", help="measure also what the tests start")
    parser.add_argument("--known", action="store_true", help="run nothing, report what the last run gave")
    arguments, given = parser.parse_known_args()
    # The patterns of pyproject.toml are for all processes, wherever they are started.
    os.environ["VIRTSHAPE_CHECKOUT"] = str(CHECKOUT)
    wanted = given or (COMMANDS if arguments.commands else ())
    failed = 0 if arguments.known else measure([*WORKERS, *wanted], commands=arguments.commands)
    return failed or report(details=arguments.commands or arguments.known)


def measure(arguments: list[str], *, commands: bool) -> int:
    """Runs pytest with its workers measured, and what they start if `commands`; returns its exit code."""
    shutil.rmtree(DATA.parent, ignore_errors=True)
    DATA.parent.mkdir(parents=True)
    # coverage is started by a .pth file of its own in each Python process that finds the first variable.
    variables = {"COVERAGE_PROCESS_START": str(SETTINGS), "COVERAGE_FILE": str(DATA)}
    if not commands:
        # tests/conftest.py takes that variable away before the first test.
        variables["VIRTSHAPE_MEASURED"] = "tests"
    code = subprocess.run([sys.executable, "-m", "pytest", *arguments], env={**os.environ, **variables}, check=False)
    measured = _measured()
    measured.combine([str(DATA.parent)], strict=True)
    measured.save()
    return code.returncode


def report(*, details: bool) -> int:
    """Prints whether the goals are reached, and if not, or with details, what is missed; returns 1 if not."""
    measured = _measured()
    measured.load()
    # What no process has imported is not covered; without this it would not count at all.
    measured.get_data().touch_files([str(file) for file in sorted((CHECKOUT / "plugins").rglob("*.py"))])
    covered = {goal: _covered(measured, goal.folder) for goal in GOALS}
    missed = [goal for goal, shares in covered.items() if min(shares) < goal.percent]
    if missed or details:
        measured.report(show_missing=True, skip_covered=True)
    for goal, (lines, branches) in covered.items():
        told = f"Coverage of {goal.folder}: {lines:.2f} % of lines, {branches:.2f} % of branches"
        print(f"{told}; {goal.percent} % of each are asked for" if goal in missed else told)
    return 1 if missed else 0


def _covered(measured: coverage.Coverage, folder: str) -> tuple[float, float]:
    """Percent of lines and of branches below a folder."""
    written = DATA.with_name("report.json")
    measured.json_report(include=[f"{CHECKOUT / folder}/*"], outfile=str(written))
    totals = json.loads(written.read_text(encoding="utf-8"))["totals"]
    return totals["percent_statements_covered"], totals["percent_branches_covered"]


def _measured() -> coverage.Coverage:
    os.chdir(CHECKOUT)
    return coverage.Coverage(data_file=str(DATA), config_file=str(SETTINGS))


if __name__ == "__main__":
    sys.exit(main())
