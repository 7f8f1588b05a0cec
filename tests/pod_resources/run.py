#!/usr/bin/env python
"""Runs vectors of launcher pods: ``run.py DIR [--group G] [--refused]``.

Prints ``GROUP passed/total`` for each file below DIR and then the first failures: id, input and every difference by
path. Counted are the cases that KubeVirt's webhook admits, and those of VMIs as stored. Exits 1 if a case fails, 2 if
there is none.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pod_cases import Failure, failures, groups, load


def main() -> int:
    """Runs the groups asked for and returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare _resolver.pod with what KubeVirt's own code answered.")
    parser.add_argument("directory", type=Path, metavar="DIR", help="directory of the vectors")
    parser.add_argument("--group", help="only this group (vectors/overhead) or the groups below it (vectors)")
    parser.add_argument("--refused", action="store_true", help="also the cases that KubeVirt's webhook refuses")
    parser.add_argument("--failures", type=int, default=10, metavar="N", help="show the first N failures (default 10)")
    arguments = parser.parse_args()

    failed: list[Failure] = []
    total = 0
    for group in groups(arguments.directory):
        if arguments.group and group != arguments.group and not group.startswith(f"{arguments.group}/"):
            continue
        cases = [
            case
            for case in load(arguments.directory, group)
            if arguments.refused or case["admitted"] or "created" in case["input"]
        ]
        found = list(failures(cases))
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
    print(f"\nall {total - len(failed)}/{total}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
