#!/usr/bin/env python
"""Compares the placement of pods with the real kube-scheduler's: ``run.py [--clusters N] [--from SEED] [--record]``.

Builds the scheduler's filter plugins once, of the modules that the local cluster is built of. Prints how many of the
pods fit on exactly the nodes that kube-scheduler says, and the first that do not. Exits 1 if there is one.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from judged import CASES, batch, judge, ours, write
from random_clusters import cluster

TOGETHER = 12
SHOWN = 5


def main() -> int:
    """Compares, or records what kube-scheduler says, and returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare _capacity.placement with the real kube-scheduler.")
    parser.add_argument("--clusters", type=int, default=CASES, metavar="N", help=f"how many (default {CASES})")
    parser.add_argument("--from", type=int, default=0, metavar="SEED", dest="first", help="seed of the first cluster")
    parser.add_argument("--record", action="store_true", help="keep what kube-scheduler says for the tests")
    arguments = parser.parse_args()

    seeds = range(arguments.first, arguments.first + arguments.clusters)
    given = [cluster(seed) for seed in seeds]
    expected = judge(given)
    if arguments.record:
        write(expected)
        return 0
    alone = [
        f"cluster {seed}, {_name(pod)}: kube-scheduler {desired}, we {got}\n  {json.dumps(pod)}"
        for seed, item, said in zip(seeds, given, expected)
        for pod, desired, got in zip(item["pending"], said, ours(item))
        if set(got) != set(desired)
    ]
    _print("placed alone", alone, sum(map(len, expected)))
    together = list(_together(seeds))
    _print("placed one after the other", together, TOGETHER * len(seeds))
    return 1 if alone or together else 0


def _together(seeds: range) -> Iterator[str]:
    """The pods that kube-scheduler would not place where we do, after the same pods were placed before."""
    given = [cluster(seed, TOGETHER) for seed in seeds]
    placed = [batch(item) for item in given]
    expected = judge([{**item, "placed": nodes} for item, nodes in zip(given, placed)])
    for seed, item, nodes, said in zip(seeds, given, placed, expected):
        for pod, got, desired in zip(item["pending"], nodes, said):
            if got not in (desired or [""]):
                yield f"cluster {seed}, {_name(pod)}: kube-scheduler {desired}, we {got!r}\n  {json.dumps(pod)}"


def _name(pod: dict[str, Any]) -> str:
    return f"pod {pod['metadata']['name']}"


def _print(what: str, wrong: list[str], total: int) -> None:
    print(f"{what} {total - len(wrong)}/{total}")
    print(*wrong[:SHOWN], sep="\n", end="\n" if wrong else "")


if __name__ == "__main__":
    sys.exit(main())
