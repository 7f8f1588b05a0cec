"""What limits the creation of VMs: ``admission_rate.py [--vms N] [--rounds N]``.

virt-api reads the instancetype and the preference of a VM for each write, with a client that KubeVirt's
``apiConfiguration`` limits. Creates VMs with the default limit and with ten times as much, in turn, and prints for
each: VMs a second, the reads and the CPU time that a VM took, and how busy all CPUs were. If they were busy, a higher
limit cannot help here. The cluster is one of its own. Run it on an idle machine.
"""

import argparse
import asyncio
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp
from cluster_load import Namespace, cluster, connect, cost, launch, send

LIMITS = (200, 2000)
"""Requests a second, the first is KubeVirt's default; bursts are twice as many."""
SETTLE = 5.0  # seconds until virt-api has a new limit
_READS = re.compile(
    r'^apiserver_request_total\{.*resource="virtualmachine(?:instancetype|preference)s".*verb="GET".*\} (\S+)$', re.M
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--vms", type=int, default=3000, metavar="N", help="VMs of a measurement (default 3000)")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="measurements of each limit (default 2)")
    options = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    with cluster() as directory:
        launch("start", directory)
        for number in range(options.rounds):
            for limit in LIMITS:
                asyncio.run(measure(directory, options.vms, limit, f"round-{number}-{limit}"))
    return 0


async def measure(directory: Path, vms: int, limit: int, name: str) -> None:
    async with connect(directory) as session:
        bucket = {"tokenBucketRateLimiter": {"qps": limit, "burst": 2 * limit}}
        configuration = {"apiConfiguration": {"restClient": {"rateLimiter": bucket}}}
        await send(
            session,
            "PATCH",
            "/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt",
            {"spec": {"configuration": configuration}},
            {"Content-Type": "application/merge-patch+json"},
        )
        namespace = Namespace(session, name)
        await namespace.stock()
        await asyncio.sleep(SETTLE)
        read, used, busy, began = await reads(session), cost(directory).cpu, busy_seconds(), time.monotonic()
        own = time.process_time()
        await namespace.create_halted(vms)
        seconds = time.monotonic() - began
        shares = {part: seconds_of - used[part] for part, seconds_of in cost(directory).cpu.items()}
        shares["client"] = time.process_time() - own
        parts = ", ".join(f"{part} {1000 * spent / vms:.1f}" for part, spent in shares.items() if spent)
        print(
            f"limit {limit}: {vms / seconds:.0f} VMs/s, {(await reads(session) - read) / vms:.1f} reads a VM, "
            f"CPUs {100 * (busy_seconds() - busy) / seconds / (os.cpu_count() or 1):.0f} % busy, "
            f"ms of CPU a VM: {1000 * sum(shares.values()) / vms:.1f} ({parts})",
            flush=True,
        )
        await namespace.delete()


async def reads(session: aiohttp.ClientSession) -> float:
    """How often anybody has read an instancetype or a preference."""
    async with session.get("/metrics") as response:
        return sum(map(float, _READS.findall(await response.text())))


def busy_seconds() -> float:
    """The time of all CPUs that was not idle since the machine started."""
    # proc(5): user, nice, system, idle, iowait, irq, softirq, steal.
    fields: list[Any] = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    ticks = [int(field) for field in fields]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
