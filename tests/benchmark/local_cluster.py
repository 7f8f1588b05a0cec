"""The cost of the local cluster: ``local_cluster.py [--vms N] [--rounds N] [--starts N] [--out FILE]``.

Time of a start, memory when idle, rate of creating halted VMs through the webhooks with both revisions captured, and
memory over rounds of creating and deleting them. The cluster is one of its own, removed at the end. No assertion on
time is made; run it on an idle machine and compare with docs/benchmarks.md.
"""

import argparse
import asyncio
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from cluster_load import MACHINE, PARTS, REVISION, Namespace, cluster, connect, cost, launch, send
from results import record

WIDTH = 16
SETTLE = 15.0  # seconds after a start until the memory is looked at


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--vms", type=int, default=1000, metavar="N", help="VMs in a round (default 1000)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds (default 3)")
    parser.add_argument("--starts", type=int, default=5, metavar="N", help="starts that are timed (default 5)")
    parser.add_argument("--out", type=Path, help="the file of results to add these to")
    options = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    with cluster() as directory:
        record(options.out, "local_cluster", measure(directory, options.vms, options.rounds, options.starts))
    return 0


def measure(directory: Path, vms: int, rounds: int, starts: int) -> dict[str, Any]:
    """Measures and prints as it goes."""
    seconds = []
    for _unused in range(starts):
        began = time.monotonic()
        launch("start", directory)
        seconds.append(time.monotonic() - began)
        if len(seconds) < starts:
            launch("stop", directory)
    print(f"start: {statistics.median(seconds):.1f} s ({min(seconds):.1f} to {max(seconds):.1f})")
    time.sleep(SETTLE)
    titles = ("VMs/s", "captured/s", "MiB in all", *PARTS, "CPU s")
    print(f"{'':10}" + "".join(f"{title:>{WIDTH}}" for title in titles))
    before = cost(directory)
    row("idle", None, None, before.memory, None)
    row("  PSS", None, None, before.proportional, None)
    idle, result = sum(before.memory.values()), []
    for number in range(1, rounds + 1):
        created, captured = asyncio.run(create_and_delete(directory, vms, f"round-{number}"))
        after = cost(directory)
        used = sum(after.cpu.values()) - sum(before.cpu.values())
        row(f"round {number}", vms / created, vms / captured, after.memory, used)
        result.append({"created_per_second": vms / created, "captured_per_second": vms / captured})
        before = after
    return {"start_seconds": seconds, "idle_mib": idle, "after_mib": sum(before.memory.values()), "rounds": result}


def row(name: str, created: float | None, captured: float | None, memory: dict[str, float], cpu: float | None) -> None:
    numbers = (created, captured, sum(memory.values()), *memory.values(), cpu)
    print(f"{name:10}" + "".join(f"{'' if n is None else f'{n:.0f}':>{WIDTH}}" for n in numbers))


async def create_and_delete(directory: Path, vms: int, name: str) -> tuple[float, float]:
    """Seconds until all were created, and until all had both revisions; all are gone at the end."""
    async with connect(directory) as session:
        namespace = Namespace(session, name)
        await namespace.stock()
        began = time.monotonic()
        await namespace.create_halted(vms)
        created = time.monotonic() - began
        while not await all_captured(namespace, vms):
            await asyncio.sleep(0.1)
        captured = time.monotonic() - began
        await namespace.delete()
        return created, captured


async def all_captured(namespace: Namespace, vms: int) -> bool:
    """Whether the cluster has two revisions for each VM, and, once there are, whether each VM names them."""
    if await namespace.count(REVISION) < 2 * vms:
        return False
    machines = (await send(namespace.session, "GET", namespace.path(MACHINE)))["items"]
    return len(machines) == vms and all(
        ((vm.get("status") or {}).get(reference) or {}).get("controllerRevisionRef")
        for vm in machines
        for reference in ("instancetypeRef", "preferenceRef")
    )


if __name__ == "__main__":
    sys.exit(main())
