#!/usr/bin/env python
"""Runs conformance vectors: ``run.py DIR [--group G] [--bundles DIR]``.

DIR is the main set, or the set of older releases (`releases`). Prints ``GROUP passed/total`` for each file below DIR
and then the first failures: name, input and every difference by path. Exits 1 if a case fails, 2 if there is none.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bundles import Bundles, default_directory
from cases import groups
from releases import load
from report import Failure, failures


def main() -> int:
    """Runs the groups asked for and returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare _resolver with what KubeVirt's own code answered.")
    parser.add_argument("directory", type=Path, metavar="DIR", help="directory of the vectors")
    parser.add_argument("--group", help="only this group (apply/it_cpu) or the groups below it (apply)")
    parser.add_argument(
        "--bundles",
        type=Path,
        default=default_directory(),
        metavar="DIR",
        help="directory of the common-instancetypes v1.7.0 bundles; default: upstream/common-instancetypes/v1.7.0 in"
        " $VIRTSHAPE_SHARED or in ../shared beside the checkout, else the built-in catalog",
    )
    parser.add_argument("--failures", type=int, default=10, metavar="N", help="show the first N failures (default 10)")
    arguments = parser.parse_args()

    bundles = Bundles(arguments.bundles)
    failed: list[Failure] = []
    total = 0
    for group in groups(arguments.directory):
        if arguments.group and group != arguments.group and not group.startswith(f"{arguments.group}/"):
            continue
        cases = load(arguments.directory, group)
        found = list(failures(cases, bundles))
        print(f"{group} {len(cases) - len(found)}/{len(cases)}", flush=True)
        failed += found
        total += len(cases)

    for failure in failed[: arguments.failures]:
        print(f"\n{failure}")
    if len(failed) > arguments.failures:
        print(f"\n{len(failed) - arguments.failures} more failures not shown (--failures N)")
    if not total:
        print(f"no case found in {arguments.directory}", file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
