#!/usr/bin/env python
"""Runs vectors of boot sources: ``run.py DIR [--group G]``.

Prints ``GROUP passed/total`` for each file below DIR and then the first failures: id, input and every difference by
path. Exits 1 if a case fails, 2 if there is none.
"""

from __future__ import annotations

import sys

from boot_cases import Failure, failures, groups, load
from vector_run import parser, run


def main() -> int:
    """Runs the groups asked for and returns the exit code."""
    arguments = parser("Compare _resolver.boot with what CDI's own code answered.", "webhook/datavolumes").parse_args()

    def judge(group: str) -> tuple[int, list[Failure]]:
        cases = load(arguments.directory, group)
        return len(cases), list(failures(group, cases))

    return run(arguments, groups(arguments.directory), judge)


if __name__ == "__main__":
    sys.exit(main())
