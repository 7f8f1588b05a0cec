"""Support of the local cluster's benchmarks: its launcher, a client, and the objects they make."""

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import yaml

FILES = Path(__file__).resolve().parents[2] / "roles" / "local_cluster" / "files"
CONNECTIONS = 16
PARTS = ("control-plane", "virt-api", "virt-controller", "cdi", "node")
APPLY = {"Content-Type": "application/apply-patch+yaml"}
INSTANCETYPE = ("instancetype.kubevirt.io/v1beta1", "VirtualMachineInstancetype", "virtualmachineinstancetypes")
PREFERENCE = ("instancetype.kubevirt.io/v1beta1", "VirtualMachinePreference", "virtualmachinepreferences")
MACHINE = ("kubevirt.io/v1", "VirtualMachine", "virtualmachines")
REVISION = ("apps/v1", "ControllerRevision", "controllerrevisions")


class Cost(NamedTuple):
    """memory: resident MiB of each of PARTS, and proportional: shared pages divided. cpu: seconds since its start."""

    memory: dict[str, float]
    proportional: dict[str, float]
    cpu: dict[str, float]


def launch(command: str, directory: Path, *more: str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(FILES)}
    argv = [sys.executable, "-m", "local_cluster", command, "--dir", str(directory), *more]
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    answer: dict[str, Any] = json.loads(done.stdout)
    if answer.get("failed"):
        raise SystemExit(answer["msg"])
    return answer


@contextmanager
def cluster() -> Iterator[Path]:
    """The state directory of a cluster that is to be started; whatever ends the benchmark, the cluster ends too."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit("ended by SIGTERM"))
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder, "cluster")
        try:
            yield directory
        finally:
            launch("stop", directory, "--remove")


def cost(directory: Path) -> Cost:
    """The load of each process of the cluster now."""
    processes = launch("status", directory)["processes"]
    result = Cost({}, {}, {})
    for part in PARTS:
        proc = Path("/proc", str(processes[part]))
        result.memory[part] = _mebibytes(proc / "status", "VmRSS:")
        result.proportional[part] = _mebibytes(proc / "smaps_rollup", "Pss:")
        # proc(5): user and system time are the 14th and 15th field, and the 2nd may hold spaces.
        fields = (proc / "stat").read_text().rpartition(")")[2].split()
        result.cpu[part] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return result


def _mebibytes(file: Path, name: str) -> float:
    return int(file.read_text().partition(name)[2].split()[0]) / 1024


def connect(directory: Path) -> aiohttp.ClientSession:
    """A client of the cluster as its administrator."""
    content = yaml.safe_load((directory / "kubeconfig").read_text())
    tls = ssl.create_default_context(cafile=str(directory / "pki" / "ca.crt"))
    return aiohttp.ClientSession(
        content["clusters"][0]["cluster"]["server"],
        connector=aiohttp.TCPConnector(ssl=tls, limit=CONNECTIONS),
        headers={"Authorization": f"Bearer {content['users'][0]['user']['token']}"},
    )


class Namespace:
    """A namespace for the VMs of one measurement.

    Each wants a name of its own: a namespace that was deleted half a minute ago costs the API server a live look at
    each object that is created in it.
    """

    def __init__(self, session: aiohttp.ClientSession, name: str) -> None:
        self.session = session
        self.name = name
        self.own_path = f"/api/v1/namespaces/{name}"

    async def stock(self) -> None:
        """Creates the namespace, with an instancetype and a preference."""
        await send(self.session, "POST", "/api/v1/namespaces", {"metadata": {"name": self.name}})
        await self.apply(INSTANCETYPE, "size", {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}})
        taste = {"cpu": {"preferredCPUTopology": "sockets"}, "devices": {"preferredDiskBus": "virtio"}}
        await self.apply(PREFERENCE, "taste", taste)

    async def create_halted(self, count: int) -> None:
        """VMs vm-00000 and on, over all connections."""
        numbers = iter(range(count))
        await asyncio.gather(*(self._worker(numbers) for _unused in range(CONNECTIONS)))

    async def _worker(self, numbers: Any) -> None:
        for number in numbers:
            await self.apply(MACHINE, f"vm-{number:05}", machine())

    async def apply(self, kind: tuple[str, str, str], name: str, spec: Any) -> None:
        body = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": name}, "spec": spec}
        await send(self.session, "PATCH", f"{self.path(kind, name)}?fieldManager=benchmark", body, APPLY)

    async def count(self, kind: tuple[str, str, str]) -> int:
        """The number of objects, of which it reads none."""
        first = await send(self.session, "GET", f"{self.path(kind)}?limit=1")
        return len(first["items"]) + int(first["metadata"].get("remainingItemCount", 0))

    def path(self, kind: tuple[str, str, str], name: str = "") -> str:
        return f"/apis/{kind[0]}/namespaces/{self.name}/{kind[2]}" + (f"/{name}" if name else "")

    async def delete(self) -> None:
        """Deletes the namespace with all that is in it, and waits until the VM no longer exists."""
        await send(self.session, "DELETE", self.path(MACHINE))
        await send(self.session, "DELETE", self.own_path)
        while True:
            async with self.session.get(self.own_path) as response:
                if response.status == 404:
                    return
            await asyncio.sleep(0.2)


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


async def send(
    session: aiohttp.ClientSession, method: str, target: str, body: Any = None, headers: Any = None
) -> dict[str, Any]:
    async with session.request(method, target, json=body, headers=headers) as response:
        text = await response.read()
        if response.status >= 300:
            raise SystemExit(f"{method} {target}: {response.status} {text.decode()[:300]}")
        answer: dict[str, Any] = json.loads(text or "{}")
        return answer
