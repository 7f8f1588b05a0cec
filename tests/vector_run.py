"""Common parts of all sets of vectors: their files, how a case is judged, and their command line."""

import argparse
import gzip
import importlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_SHOWN = 5
_SHOWN_INPUT = 900
_PYTHON = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "python"

Case = dict[str, Any]


class Failure(NamedTuple):
    """A case that was not answered as recorded: its name, what it asks, and a line for each difference."""

    name: str
    given: Any
    reasons: list[str]

    def __str__(self) -> str:
        given = json.dumps(self.given, ensure_ascii=False)
        if len(given) > _SHOWN_INPUT:
            given = f"{given[:_SHOWN_INPUT]} ..."
        return "\n".join([self.name, f"  input: {given}", *(f"  {reason}" for reason in self.reasons)])


def groups(directory: Path) -> list[str]:
    """The names of all groups below a directory, sorted: its files of lines of JSON, which may be compressed."""
    files = [*directory.rglob("*.jsonl"), *directory.rglob("*.jsonl.gz")]
    return sorted({file.relative_to(directory).as_posix().partition(".jsonl")[0] for file in files})


def load(directory: Path, group: str) -> list[Case]:
    """The cases of one group."""
    plain, packed = (directory / f"{group}{ending}" for ending in (".jsonl", ".jsonl.gz"))
    text = plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes())
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def judged(
    cases: Iterable[Case], judge: Callable[[Case], Iterable[str]], shown: Callable[[Case], tuple[str, Any]]
) -> Iterator[Failure]:
    """The failures among the cases, in their order.

    judge: the differences of a case. shown: the name of a case, and what it asks.
    """
    for case in cases:
        before = json.dumps(case)
        try:
            reasons = list(judge(case))
        # The other cases run, whatever is wrong with one.
        except Exception as error:
            reasons = [f"raised {type(error).__name__}: {error}"]
        if json.dumps(case) != before:
            reasons.append("the input was changed")
        if reasons:
            yield Failure(*shown(case), reasons)


_GO_DECODER = re.compile(
    r"cannot unmarshal|quantities must match|unexpected type in ControllerRevision|failed to decode (object|old)"
)


def is_decoder_text(expected: Any, got: Any) -> bool | None:
    """Accepts any text in place of one of Go's decoder: ours names the field and the reason."""
    texts = isinstance(expected, str) and isinstance(got, str) and got
    return True if texts and _GO_DECODER.search(expected) else None


def differences(
    expected: Any, got: Any, path: str = "", is_same: Callable[[Any, Any], bool | None] = is_decoder_text
) -> Iterator[str]:
    """One line for each difference; order of keys does not count, order of lists does, 1 equals 1.0 but not true.

    is_same: decides about two values; None for the usual comparison.
    """
    same = is_same(expected, got)
    if same is None and isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(expected.keys() | got.keys()):
            below = f"{path}.{key}" if path else str(key)
            if key not in got:
                yield f"{below}: expected {_text(expected[key])}, got nothing"
            elif key not in expected:
                yield f"{below}: expected nothing, got {_text(got[key])}"
            else:
                yield from differences(expected[key], got[key], below, is_same)
    elif same is None and isinstance(expected, list) and isinstance(got, list):
        for index, (left, right) in enumerate(zip(expected, got)):
            yield from differences(left, right, f"{path}[{index}]", is_same)
        for index in range(len(got), len(expected)):
            yield f"{path}[{index}]: expected {_text(expected[index])}, got nothing"
        for index in range(len(expected), len(got)):
            yield f"{path}[{index}]: expected nothing, got {_text(got[index])}"
    elif not (isinstance(expected, bool) is isinstance(got, bool) and expected == got if same is None else same):
        yield f"{path or '(all)'}: expected {_text(expected)}, got {_text(got)}"


def _text(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True)
    except TypeError:
        return repr(value)


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


def command(description: str, group: str, module: str, needs: str) -> int:
    """Runs the vectors of a module with `groups`, `load` and `failures`, and returns the exit code.

    needs: a package that the checkout's virtual environment has, in which this starts anew where it is missing.
    """
    if importlib.util.find_spec(needs) is None and _PYTHON.exists():
        os.execv(_PYTHON, [str(_PYTHON), *sys.argv])
    cases_of = importlib.import_module(module)
    arguments = parser(description, group).parse_args()

    def judge(group: str) -> tuple[int, list[Failure]]:
        cases = cases_of.load(arguments.directory, group)
        return len(cases), list(cases_of.failures(group, cases))

    return run(arguments, cases_of.groups(arguments.directory), judge)


def failure_summary(failed: Sequence[Any], total: int) -> str:
    """The number of failed cases of a group, and the first of them."""
    return "\n\n".join([f"{len(failed)} of {total} cases failed", *map(str, failed[:_SHOWN])])


def counted(directory: Path, groups: Iterable[str], load: Callable[[Path, str], Sequence[Any]]) -> dict[str, int]:
    """The number of cases in each folder of a directory."""
    result: dict[str, int] = {}
    for group in groups:
        folder = group.partition("/")[0]
        result[folder] = result.get(folder, 0) + len(load(directory, group))
    return result
