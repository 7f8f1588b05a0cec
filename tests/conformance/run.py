#!/usr/bin/env python
"""Runs conformance vectors: ``run.py DIR [--group G] [--bundles DIR]``.

DIR is the main set, or the set of older releases (`releases`). Prints ``GROUP passed/total`` for each file below DIR
and then the first failures: name, input and every difference by path. Exits 1 if a case fails, 2 if there is none.
"""

import sys
from pathlib import Path

from bundles import Bundles, default_directory
from cases import groups
from releases import load
from report import Failure, failures
from vector_run import parser, run


def main() -> int:
    """Runs the groups asked for and returns the exit code."""
    options = parser("Compare _resolver with what KubeVirt's own code answered.", "apply/it_cpu")
    options.add_argument(
        "--bundles",
        type=Path,
        default=default_directory(),
        metavar="DIR",
        help="directory of the common-instancetypes v1.7.0 bundles; default: upstream/common-instancetypes/v1.7.0 in"
        " $VIRTSHAPE_SHARED or in ../shared beside the checkout, else the built-in catalog",
    )
    arguments = options.parse_args()
    bundles = Bundles(arguments.bundles)

    def judge(group: str) -> tuple[int, list[Failure]]:
        cases = load(arguments.directory, group)
        return len(cases), list(failures(cases, bundles))

    return run(arguments, groups(arguments.directory), judge, sums_up=False)


if __name__ == "__main__":
    sys.exit(main())
