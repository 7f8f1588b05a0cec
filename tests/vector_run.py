"""What all sets of vectors share: their command line, ``run.py DIR [--group G] [--failures N]``, and what tests say."""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

_SHOWN = 5


def parser(description: str, group: str) -> argparse.ArgumentParser:
    """The options that all have. group: the name of one, for the help."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("directory", type=Path, metavar="DIR", help="directory of the vectors")
    folder = group.partition("/")[0]
    made.add_argument("--group", help=f"only this group ({group}) or the groups below it ({folder})")
    made.add_argument("--failures", type=int, default=10, metavar="N", help="show the first N failures (default 10)")
    return made


def run(
    arguments: argparse.Namespace,
    groups: Iterable[str],
    judge: Callable[[str], tuple[int, Sequence[Any]]],
    sums_up: bool = True,
) -> int:
    """Runs the groups asked for, prints what came of them, and returns the exit code.

    judge: how many cases a group has, and those that failed, which print as they are to be read.
    sums_up: whether a last line has the sum of all groups.
    """
    failed: list[Any] = []
    total = 0
    for group in groups:
        if arguments.group and group != arguments.group and not group.startswith(f"{arguments.group}/"):
            continue
        count, result = judge(group)
        print(f"{group} {count - len(result)}/{count}", flush=True)
        failed += result
        total += count

    for failure in failed[: arguments.failures]:
        print(f"\n{failure}")
    if len(failed) > arguments.failures:
        print(f"\n{len(failed) - arguments.failures} more failures not shown (--failures N)")
    if not total:
        print(f"no case found in {arguments.directory}", file=sys.stderr)
        return 2
    if sums_up:
        print(f"\nall {total - len(failed)}/{total}")
    return 1 if failed else 0


def failure_summary(failed: Sequence[Any], total: int) -> str:
    """The number of failed cases of a group, and the first of them."""
    return "\n\n".join([f"{len(failed)} of {total} cases failed", *map(str, failed[:_SHOWN])])


def counted(directory: Path, groups: Iterable[str], load: Callable[[Path, str], Sequence[Any]]) -> dict[str, int]:
    """How many cases there are in each folder of a directory."""
    result: dict[str, int] = {}
    for group in groups:
        folder = group.partition("/")[0]
        result[folder] = result.get(folder, 0) + len(load(directory, group))
    return result
