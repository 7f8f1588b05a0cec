#!/usr/bin/env python
"""Runs vectors of VirtualMachineTemplates: ``run.py DIR [--group G]``.

Prints ``GROUP passed/total`` for each file below DIR and then the first failures: id, input and every difference by
path. Exits 1 if a case fails, 2 if there is none.
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
    from template_cases import Failure, failures, groups, load

    arguments = parser(
        "Compare templates with what virt-template's own code and virtctl answered.", "process"
    ).parse_args()

    def judge(group: str) -> tuple[int, list[Failure]]:
        cases = load(arguments.directory, group)
        return len(cases), list(failures(cases))

    return run(arguments, groups(arguments.directory), judge)


if __name__ == "__main__":
    # Texts are read with PyYAML, which the checkout's virtual environment has.
    if importlib.util.find_spec("yaml") is None and _PYTHON.exists():
        os.execv(_PYTHON, [str(_PYTHON), *sys.argv])
    sys.exit(main())
