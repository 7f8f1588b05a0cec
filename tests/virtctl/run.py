#!/usr/bin/env python
"""Runs vectors of `virtctl create`: ``run.py DIR [--group G]``.

Prints ``FILE passed/total`` for each file below DIR and then the first failures: name, command line and every
difference. Exits 1 if a case fails, 2 if there is none. No case is skipped: a parser of the command line, which the
collection has none of, is part of the translation of flags to options.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

_PYTHON = Path(__file__).resolve().parents[2] / ".venv" / "bin" / "python"


def main() -> int:
    """Runs the groups asked for and returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare virtual_machine's options with virtctl's flags.")
    parser.add_argument("directory", type=Path, metavar="DIR", help="directory of the vectors")
    parser.add_argument("--group", help="only this group (vm/names) or the groups below it (vm)")
    parser.add_argument("--failures", type=int, default=10, metavar="N", help="show the first N failures (default 10)")
    arguments = parser.parse_args()

    from virtctl_cases import Failure, failures, groups, load

    failed: list[Failure] = []
    total = 0
    for group in groups(arguments.directory):
        if arguments.group and group != arguments.group and not group.startswith(f"{arguments.group}/"):
            continue
        cases = load(arguments.directory, group)
        found = list(failures(group, cases))
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
    # Options are checked by Ansible's own code, which the checkout's virtual environment has.
    if importlib.util.find_spec("ansible") is None and _PYTHON.exists():
        os.execv(_PYTHON, [str(_PYTHON), *sys.argv])
    sys.exit(main())
