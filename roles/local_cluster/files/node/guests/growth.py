"""CPUs and memory that a running guest gets, as the status of its VMI has them after a migration."""

from __future__ import annotations

import math
from typing import Any, Final

from node.cdi import quantity
from node.guests.plugs import Plugs
from node.guests.qemu import Guest

Manifest = dict[str, Any]

MEMORY: Final = "ua-virtiomem"
"""The device by which memory is plugged: virtio-mem, as KubeVirt has it."""
_BACKEND: Final = "virtiomem"
_BLOCK: Final = 2 * 2**20  # bytes
_LEVELS: Final = ("socket-id", "core-id", "thread-id")
"""Of a CPU's place, in the order in which CPUs are plugged."""


def cpus(vmi: Manifest) -> int:
    """How many CPUs the guest of a VMI has by its status; 0 if that does not say."""
    topology = vmi["status"].get("currentCPUTopology") or {}
    return math.prod(topology.get(name) or 1 for name in ("sockets", "cores", "threads")) if topology else 0


def memory(vmi: Manifest) -> tuple[int, int]:
    """The bytes beyond those at the start that the guest of a VMI gets now, and can get."""
    status = vmi["status"].get("memory") or {}
    maximum = (vmi["spec"]["domain"].get("memory") or {}).get("maxGuest")
    sizes = [str(size) for size in (status.get("guestAtBoot"), status.get("guestRequested"), maximum) if size]
    if len(sizes) < 3:
        return 0, 0
    at_boot, requested, limit = (quantity.parse(size) for size in sizes)
    return requested - at_boot, limit - at_boot


def current(vmi: Manifest, plugged: int) -> str:
    """The memory of a guest that has taken so many bytes; those that are plugged need its driver's consent."""
    status = vmi["status"]["memory"]
    if plugged == memory(vmi)[0]:
        return str(status["guestRequested"])
    at_boot = str(status["guestAtBoot"])
    return f"{(quantity.parse(at_boot) + plugged) // 2**20}Mi" if plugged else at_boot


class Growth:
    """Brings CPUs and memory of one guest up to date."""

    def __init__(self, guest: Guest, plugs: Plugs) -> None:
        self._guest = guest
        self._plugs = plugs
        self._cpus = 0
        self._memory = 0
        self._has_device = False

    async def apply(self, vmi: Manifest) -> None:
        """Raises CommandFailed."""
        wanted = cpus(vmi)
        if wanted != self._cpus:
            await self._plug_cpus(wanted)
            self._cpus = wanted
        requested, limit = memory(vmi)
        if requested != self._memory:
            await self._request(requested, limit)
            self._memory = requested

    async def _plug_cpus(self, wanted: int) -> None:
        """QEMU lists all that can be, and those that are with their paths."""
        listed = await self._guest.command("query-hotpluggable-cpus")
        free = [entry for entry in listed if "qom-path" not in entry]
        free.sort(key=lambda entry: [entry["props"].get(level, 0) for level in _LEVELS])
        present = sum(entry["vcpus-count"] for entry in listed if "qom-path" in entry)
        for number, entry in enumerate(free[: max(wanted - present, 0)], present):
            await self._guest.command("device_add", {"driver": entry["type"], "id": f"vcpu{number}", **entry["props"]})

    async def _request(self, requested: int, limit: int) -> None:
        if self._has_device:
            value = {"path": f"/machine/peripheral/{MEMORY}", "property": "requested-size", "value": requested}
            await self._guest.command("qom-set", value)
            return
        port = self._plugs.port()
        await self._guest.command("object-add", {"qom-type": "memory-backend-ram", "id": _BACKEND, "size": limit})
        device = {"driver": "virtio-mem-pci", "id": MEMORY, "memdev": _BACKEND, "bus": port}
        await self._guest.command("device_add", {**device, "requested-size": requested, "block-size": _BLOCK})
        self._plugs.take(port)
        self._has_device = True
