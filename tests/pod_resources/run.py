#!/usr/bin/env python
"""Runs vectors of launcher pods: ``run.py DIR [--group G] [--refused]``.

Prints ``GROUP passed/total`` for each file below DIR and then the first failures: id, input and every difference by
path. Counted are the cases that KubeVirt's webhook admits, and those of VMIs as stored. Exits 1 if a case fails, 2 if
there is none.
"""

import sys

from pod_cases import Failure, failures, groups, load
from vector_run import parser, run


def main() -> int:
    """Runs the groups asked for and returns the exit code."""
    options = parser("Compare _capacity.pod with what KubeVirt's own code answered.", "vectors/overhead")
    options.add_argument("--refused", action="store_true", help="also the cases that KubeVirt's webhook refuses")
    arguments = options.parse_args()

    def judge(group: str) -> tuple[int, list[Failure]]:
        cases = [
            case
            for case in load(arguments.directory, group)
            if arguments.refused or case["admitted"] or "created" in case["input"]
        ]
        return len(cases), list(failures(group, cases))

    return run(arguments, groups(arguments.directory), judge)


if __name__ == "__main__":
    sys.exit(main())
