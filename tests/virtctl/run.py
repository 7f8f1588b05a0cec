#!/usr/bin/env python
"""Runs vectors of `virtctl create`: ``run.py DIR [--group G]``.

Prints ``FILE passed/total`` for each file below DIR and then the first failures: name, command line and every
difference. Exits 1 if a case fails, 2 if there is none. No case is skipped: a parser of the command line, which the
collection has none of, is part of the translation of flags to options.
"""

import importlib.util
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from vector_run import parser, run

_PYTHON = Path(__file__).resolve().parents[2] / ".venv" / "bin" / "python"


def main() -> int:
    """Runs the groups asked for and returns the exit code."""
    from virtctl_cases import Failure, failures, groups, load

    arguments = parser("Compare virtual_machine's options with virtctl's flags.", "vm/names").parse_args()

    def judge(group: str) -> tuple[int, list[Failure]]:
        cases = load(arguments.directory, group)
        return len(cases), list(failures(group, cases))

    return run(arguments, groups(arguments.directory), judge)


if __name__ == "__main__":
    # Options are checked by Ansible's own code, which the checkout's virtual environment has.
    if importlib.util.find_spec("ansible") is None and _PYTHON.exists():
        os.execv(_PYTHON, [str(_PYTHON), *sys.argv])
    sys.exit(main())
