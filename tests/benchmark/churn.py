"""Whether the local cluster stays as large as it is under churn: ``churn.py [--minutes N] [--rate R] ...``.

Halted VMs stand by the whole time. Other VMs live their lives at a steady rate: created, started, given another
instancetype while they run, stopped (every other one; the rest are deleted running) and deleted. Each minute it prints
the memory of each process and how many objects there are. The cluster is one of its own, removed at the end.
"""

import argparse
import asyncio
import itertools
import os
import sys
import time
from pathlib import Path

from cluster_load import (
    APPLY,
    INSTANCE,
    MACHINE,
    PARTS,
    REVISION,
    Namespace,
    cluster,
    connect,
    cost,
    count,
    launch,
    machine,
    send,
    status,
)

NAMESPACE = "load"
POWER = f"/apis/subresources.kubevirt.io/v1/namespaces/{NAMESPACE}/virtualmachines"
PAUSE = 2.0  # seconds between two steps of a VM's life
SAMPLE = 60.0  # seconds
COLUMNS = (
    "minute",
    *(f"{part} MiB" for part in PARTS),
    *("VMs lived", "VMs", "VMIs", "revisions", "events", "CPU s"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60, metavar="N", help="how long (default 60)")
    parser.add_argument("--rate", type=float, default=3, metavar="R", help="VMs begun a second at most (default 3)")
    parser.add_argument(
        "--concurrent", type=int, default=60, metavar="N", help="VMs that live at the same time (default 60)"
    )
    parser.add_argument("--standing", type=int, default=3400, metavar="N", help="VMs that stay (default 3400)")
    options = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    with cluster() as directory:
        launch("start", directory)
        churn = Churn(directory, options.rate, options.concurrent)
        asyncio.run(churn.run(options.minutes * 60, options.standing))
    return 0


class Churn:
    """Lives of VMs, and how many ended."""

    def __init__(self, directory: Path, rate: float, max_concurrent: int) -> None:
        """rate: of lives begun a second, at most: no more than max_concurrent go on beside each other."""
        self._directory = directory
        self._interval = 1 / rate
        self._room = asyncio.Semaphore(max_concurrent)
        self._lived = 0
        self._began = time.monotonic()

    async def run(self, seconds: float, standing: int) -> None:
        async with connect(self._directory) as session:
            namespace = Namespace(session, NAMESPACE)
            await namespace.stock()
            await namespace.create_halted(standing)
            await self.churn(namespace, seconds)

    async def churn(self, namespace: Namespace, seconds: float) -> None:
        """Ends with the last life, or at once when one of them fails."""
        print("| " + " | ".join(COLUMNS) + " |\n|" + "--:|" * len(COLUMNS))
        self._began = time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            sampler = tasks.create_task(self._sample(namespace))
            async with asyncio.TaskGroup() as lives:
                for number in itertools.count():
                    if time.monotonic() - self._began > seconds:
                        break
                    await self._room.acquire()
                    lives.create_task(self._live(namespace, f"churn-{number:06}", stops=number % 2 == 0))
                    await asyncio.sleep(self._interval)
            sampler.cancel()
        await self._row(namespace)

    async def _live(self, namespace: Namespace, name: str, *, stops: bool) -> None:
        session, item = namespace.session, namespace.path(MACHINE, name)
        body = {"apiVersion": MACHINE[0], "kind": MACHINE[1], "metadata": {"name": name}, "spec": machine()}
        await send(session, "PATCH", f"{item}?fieldManager=churn", body, APPLY)
        await asyncio.sleep(PAUSE)
        await send(session, "PUT", f"{POWER}/{name}/start")
        await _shows(namespace, name, "Running")
        merge = {"Content-Type": "application/merge-patch+json"}
        await send(session, "PATCH", item, {"spec": {"instancetype": {"name": "larger"}}}, merge)
        await asyncio.sleep(PAUSE)
        if stops:
            await send(session, "PUT", f"{POWER}/{name}/stop")
            await _shows(namespace, name, "Stopped")
        await send(session, "DELETE", item)
        while await status(session, item) != 404:
            await asyncio.sleep(PAUSE)
        self._lived += 1
        self._room.release()

    async def _sample(self, namespace: Namespace) -> None:
        while True:
            await self._row(namespace)
            await asyncio.sleep(SAMPLE - (time.monotonic() - self._began) % SAMPLE)

    async def _row(self, namespace: Namespace) -> None:
        now = await asyncio.to_thread(cost, self._directory)
        counts = [await namespace.count(kind) for kind in (MACHINE, INSTANCE, REVISION)]
        counts.append(await count(namespace.session, f"{namespace.own_path}/events"))
        minute = (time.monotonic() - self._began) / 60
        values = (minute, *now.memory.values(), self._lived, *counts, sum(now.cpu.values()))
        print("| " + " | ".join(f"{value:.0f}" for value in values) + " |", flush=True)


async def _shows(namespace: Namespace, name: str, wanted: str) -> None:
    """Waits until the VM's printableStatus is `wanted`."""
    while True:
        await asyncio.sleep(PAUSE)
        vm = await send(namespace.session, "GET", namespace.path(MACHINE, name))
        if vm.get("status", {}).get("printableStatus") == wanted:
            return


if __name__ == "__main__":
    sys.exit(main())
