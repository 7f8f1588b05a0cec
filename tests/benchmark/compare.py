"""This checkout beside another commit, in pairs: ``compare.py BASE [--rounds N] [--vms N] [--limit PERCENT]``.

Each round measures both, one right after the other and each first in turn, so that whatever else the machine does meets
both. The result is the ratio within a round: its median over the rounds, and the range that holds the median with 95
percent confidence. Ends with 1 if a measure is worse by more than the limit, and by more than chance explains.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]

sys.path[:0] = [str(HERE / "peers"), str(HERE)]

import run as peers  # noqa: E402  (in this folder)
from contestants import OURS, PHASES  # noqa: E402

CONFIDENCE = 0.95
# With fewer rounds, not even the range from the smallest to the largest ratio has the confidence.
FEWEST = 6

Measures = dict[str, float]


class Compared(NamedTuple):
    """before, now: medians in the measure's unit. ratio: the median of now through before; low, high: its range."""

    before: float
    now: float
    ratio: float
    low: float
    high: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="pairs (default 10, at least 6)")
    parser.add_argument("--vms", type=int, default=200, metavar="N", help="VMs of a task (default 200)")
    parser.add_argument(
        "--limit", type=float, default=5, metavar="PERCENT", help="how much worse it may be (default 5)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all measures as JSON")
    options = parser.parse_args()
    if options.rounds < FEWEST:
        parser.error(f"--rounds must be at least {FEWEST}")
    pairs: list[tuple[Measures, Measures]] = []
    with checked_out(options.base) as base, peers.running("webhooks") as directory:
        for number in range(options.rounds):
            order = (base, CHECKOUT) if number % 2 else (CHECKOUT, base)
            result = {checkout: measured(checkout, directory, options.vms) for checkout in order}
            pairs.append((result[base], result[CHECKOUT]))
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
    if options.out:
        options.out.write_text(json.dumps({"base": options.base, "pairs": pairs}, indent=0) + "\n")
    table = {name: compared([(before[name], now[name]) for before, now in pairs]) for name in pairs[0][0]}
    print("\n".join(lines(table, options.limit)))
    return 1 if any(is_worse(item, options.limit) for item in table.values()) else 0


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A checkout of the commit in which Ansible finds the collection, as `make setup` arranges it."""
    git = ["git", "-C", str(CHECKOUT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder, "base").resolve()
        subprocess.run([*git, "add", "--quiet", "--detach", str(checkout), commit], check=True)
        try:
            link = checkout / ".cache" / "collections" / "ansible_collections" / "virtshape" / "instancetypes"
            link.parent.mkdir(parents=True)
            link.symlink_to(checkout)
            yield checkout
        finally:
            subprocess.run([*git, "remove", "--force", str(checkout)], check=True)


def measured(checkout: Path, directory: Path, vms: int) -> Measures:
    """All measures of a checkout, once: name with unit → value."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "resolver.json")
        # Its own, because the names of what it measures change.
        script = checkout / HERE.relative_to(CHECKOUT) / "resolver.py"
        command = [sys.executable, str(script), "--rounds", "3", "--out", str(file)]
        environment = {**os.environ, "MEASURED": str(checkout)}
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        result = json.loads(file.read_text())["resolver"]
        measures = {
            "resolver, µs a case": 1e6 / result["cases_per_second"]["parse + apply + serialise"],
            "import, ms": result["import_milliseconds"]["in ansible-playbook"],
        }
        collections = checkout / ".cache" / "collections"
        for row in peers.run(OURS, PHASES, directory, vms, Path(folder), collections=collections):
            measures[f"{row['phase']} {vms} VMs, s"] = row["wall"]
            measures[f"{row['phase']} {vms} VMs, s of CPU"] = row["cpu"]
            measures[f"{row['phase']} {vms} VMs, MiB"] = row["module"]
    return measures


def compared(pairs: list[tuple[float, float]]) -> Compared:
    """The sign test's range of the median, which holds whatever the distribution is."""
    ratios = sorted(now / before for before, now in pairs)
    low, high = ratios[dropped(len(ratios))], ratios[-1 - dropped(len(ratios))]
    before, now = (statistics.median(side) for side in zip(*pairs))
    return Compared(before, now, statistics.median(ratios), low, high)


def dropped(number: int) -> int:
    """The number of smallest values, and of largest ones, that the range of the median may leave out."""
    count, below = 0, 0.0
    while (below := below + math.comb(number, count) / 2**number) <= (1 - CONFIDENCE) / 2:
        count += 1
    return max(0, count - 1)


def is_worse(one: Compared, limit: float) -> bool:
    return one.ratio > 1 + limit / 100 and one.low > 1


def lines(table: dict[str, Compared], limit: float) -> Iterator[str]:
    """The measures as a Markdown table; whatever needs more is worse."""
    yield "| | before | now | ratio | 95 % | |"
    yield "|---|--:|--:|--:|--:|---|"
    for name, item in table.items():
        verdict = "**worse**" if is_worse(item, limit) else "better" if item.high < 1 else ""
        span = f"{item.low:.2f} to {item.high:.2f}"
        yield f"| {name} | {item.before:.4g} | {item.now:.4g} | x{item.ratio:.2f} | {span} | {verdict} |"


if __name__ == "__main__":
    sys.exit(main())
