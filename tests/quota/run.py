#!/usr/bin/env python
"""Compares quotas with the real API server's admission: ``run.py [--namespaces N] [--record] [--kubeconfig FILE]``.

Starts a local cluster unless a kubeconfig is given. Prints of how many pods and claims the resolver says what the API
server says, and the first that differ. Exits 1 if there is one.
"""

import argparse
import sys
from pathlib import Path

from admission import CHECKOUT, differences, judge, ours, ours_in_any_order, unexpected, write
from random_quotas import NAMESPACES, contradiction, namespace

sys.path.append(str(CHECKOUT / "tests"))

from script_cluster import script_cluster

SHOWN = 5


def main() -> int:
    """Compares, or records what the API server says, and returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare _capacity.quota with a real API server's admission.")
    parser.add_argument("--namespaces", type=int, default=NAMESPACES, metavar="N", help=f"how many ({NAMESPACES})")
    parser.add_argument("--record", action="store_true", help="keep what the API server says for the tests")
    parser.add_argument("--kubeconfig", type=Path, help="of a cluster for tests; a local one is started without it")
    arguments = parser.parse_args()

    with script_cluster(arguments.kubeconfig, "quotas") as kubeconfig:
        said = judge(kubeconfig, arguments.namespaces)
    if arguments.record:
        write(said)
        return 0
    wrong = [
        f"namespace {seed}, {line}"
        for seed, item in enumerate(said["created"])
        for line in differences(item, ours(namespace(seed)))
    ]
    _print("objects and sums of namespaces", wrong, sum(len(item["objects"]) + 1 for item in said["created"]))
    surprising = [
        f"contradiction {seed}, {line}"
        for seed, item in enumerate(said["tried"])
        for line in unexpected(item, ours_in_any_order(contradiction(seed)))
    ]
    total = sum(len(answers) for item in said["tried"] for answers in item)
    _print("answers where LimitRanges contradict each other", surprising, total)
    return 1 if wrong or surprising else 0


def _print(what: str, wrong: list[str], total: int) -> None:
    print(f"{what} {total - len(wrong)}/{total}")
    print(*wrong[:SHOWN], sep="\n", end="\n" if wrong else "")


if __name__ == "__main__":
    sys.exit(main())
