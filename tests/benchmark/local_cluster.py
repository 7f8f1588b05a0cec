"""What the local cluster costs: ``local_cluster.py [--vms N] [--rounds N] [--starts N]``.

Time of a start, memory when idle, rate of creating halted VMs through the webhooks with both revisions captured, and
memory over rounds of creating and deleting them. The cluster is one of its own, removed at the end. No assertion on
time is made; run it on an idle machine and compare with docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import yaml

FILES = Path(__file__).resolve().parents[2] / "roles" / "local_cluster" / "files"
CONNECTIONS = 16
SETTLE = 15.0  # seconds after a start until the memory is looked at
PARTS = ("control-plane", "emulation")
APPLY = {"Content-Type": "application/apply-patch+yaml"}
SIZE = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}
TASTE = {"cpu": {"preferredCPUTopology": "sockets"}, "devices": {"preferredDiskBus": "virtio"}}
INSTANCETYPE = ("instancetype.kubevirt.io/v1beta1", "VirtualMachineInstancetype", "virtualmachineinstancetypes")
PREFERENCE = ("instancetype.kubevirt.io/v1beta1", "VirtualMachinePreference", "virtualmachinepreferences")
MACHINE = ("kubevirt.io/v1", "VirtualMachine", "virtualmachines")


class Cost(NamedTuple):
    """memory: resident MiB of each of PARTS. cpu: seconds that each has used since its start."""

    memory: dict[str, float]
    cpu: dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--vms", type=int, default=1000, metavar="N", help="VMs in a round (default 1000)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds (default 3)")
    parser.add_argument("--starts", type=int, default=5, metavar="N", help="starts that are timed (default 5)")
    options = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder, "cluster")
        try:
            measure(directory, options.vms, options.rounds, options.starts)
        finally:
            launch("stop", directory, "--remove")
    return 0


def measure(directory: Path, vms: int, rounds: int, starts: int) -> None:
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
    print(f"{'':10}{'VMs/s':>8}{'captured/s':>12}{'MiB in all':>12}{'API server':>12}{'emulation':>12}{'CPU s':>8}")
    before = cost(directory)
    row("idle", None, None, before.memory, None)
    for number in range(1, rounds + 1):
        created, captured = asyncio.run(Load(directory).round(vms))
        after = cost(directory)
        used = sum(after.cpu.values()) - sum(before.cpu.values())
        row(f"round {number}", vms / created, vms / captured, after.memory, used)
        before = after


def row(name: str, created: float | None, captured: float | None, memory: dict[str, float], cpu: float | None) -> None:
    numbers = (created, captured, sum(memory.values()), *memory.values(), cpu)
    widths = (8, 12, 12, 12, 12, 8)
    print(f"{name:10}" + "".join(f"{'' if n is None else f'{n:.0f}':>{w}}" for n, w in zip(numbers, widths)))


def launch(command: str, directory: Path, *more: str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(FILES)}
    argv = [sys.executable, "-m", "local_cluster", command, "--dir", str(directory), *more]
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    answer: dict[str, Any] = json.loads(done.stdout)
    if answer.get("failed"):
        raise SystemExit(answer["msg"])
    return answer


def cost(directory: Path) -> Cost:
    processes = launch("status", directory)["processes"]
    memory, cpu = {}, {}
    for part in PARTS:
        status = Path(f"/proc/{processes[part]}/status").read_text()
        memory[part] = int(status.partition("VmRSS:")[2].split()[0]) / 1024
        # proc(5): user and system time are the 14th and 15th field, and the 2nd may hold spaces.
        fields = Path(f"/proc/{processes[part]}/stat").read_text().rpartition(")")[2].split()
        cpu[part] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return Cost(memory, cpu)


class Load:
    """One client with `CONNECTIONS` connections."""

    def __init__(self, directory: Path) -> None:
        content = yaml.safe_load((directory / "kubeconfig").read_text())
        self._server = content["clusters"][0]["cluster"]["server"]
        self._token = content["users"][0]["user"]["token"]
        self._tls = ssl.create_default_context(cafile=str(directory / "pki" / "ca.crt"))

    async def round(self, count: int) -> tuple[float, float]:
        """Creates VMs and deletes them; seconds until all were created, and until all had both revisions."""
        async with aiohttp.ClientSession(
            self._server,
            connector=aiohttp.TCPConnector(ssl=self._tls, limit=CONNECTIONS),
            headers={"Authorization": f"Bearer {self._token}"},
        ) as session:
            await send(session, "POST", "/api/v1/namespaces", {"metadata": {"name": "load"}})
            await apply(session, INSTANCETYPE, "size", SIZE)
            await apply(session, PREFERENCE, "taste", TASTE)
            began = time.monotonic()
            numbers = iter(range(count))
            await asyncio.gather(*(worker(session, numbers) for _unused in range(CONNECTIONS)))
            created = time.monotonic() - began
            while not await all_captured(session, count):
                await asyncio.sleep(0.1)
            captured = time.monotonic() - began
            await send(session, "DELETE", path(MACHINE))
            await send(session, "DELETE", "/api/v1/namespaces/load")
            while await status(session, "/api/v1/namespaces/load") != 404:
                await asyncio.sleep(0.2)
            return created, captured


async def worker(session: aiohttp.ClientSession, numbers: Any) -> None:
    for number in numbers:
        await apply(session, MACHINE, f"vm-{number:05}", machine())


def machine() -> dict[str, Any]:
    """The spec of a VM such as people write."""
    domain = {"devices": {"disks": [{"name": "root", "disk": {}}], "interfaces": [{"name": "pod", "masquerade": {}}]}}
    return {
        "runStrategy": "Halted",
        "instancetype": {"kind": INSTANCETYPE[1], "name": "size"},
        "preference": {"kind": PREFERENCE[1], "name": "taste"},
        "template": {
            "spec": {
                "domain": domain,
                "networks": [{"name": "pod", "pod": {}}],
                "volumes": [{"name": "root", "containerDisk": {"image": "quay.io/containerdisks/fedora:latest"}}],
            }
        },
    }


async def all_captured(session: aiohttp.ClientSession, count: int) -> bool:
    """Whether there are two revisions for each VM, and, once there are, whether each VM names them."""
    first = await send(session, "GET", "/apis/apps/v1/namespaces/load/controllerrevisions?limit=1")
    if len(first["items"]) + first["metadata"].get("remainingItemCount", 0) < 2 * count:
        return False
    machines = (await send(session, "GET", path(MACHINE)))["items"]
    return len(machines) == count and all(
        ((vm.get("status") or {}).get(reference) or {}).get("controllerRevisionRef")
        for vm in machines
        for reference in ("instancetypeRef", "preferenceRef")
    )


def path(kind: tuple[str, str, str], name: str = "") -> str:
    return f"/apis/{kind[0]}/namespaces/load/{kind[2]}" + (f"/{name}" if name else "")


async def apply(session: aiohttp.ClientSession, kind: tuple[str, str, str], name: str, spec: Any) -> None:
    body = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": name}, "spec": spec}
    await send(session, "PATCH", f"{path(kind, name)}?fieldManager=benchmark", body, APPLY)


async def send(
    session: aiohttp.ClientSession, method: str, target: str, body: Any = None, headers: Any = None
) -> dict[str, Any]:
    async with session.request(method, target, json=body, headers=headers) as response:
        text = await response.read()
        if response.status >= 300:
            raise SystemExit(f"{method} {target}: {response.status} {text.decode()[:300]}")
        answer: dict[str, Any] = json.loads(text)
        return answer


async def status(session: aiohttp.ClientSession, target: str) -> int:
    async with session.get(target) as response:
        return response.status


if __name__ == "__main__":
    sys.exit(main())
