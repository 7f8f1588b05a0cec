"""Disks that are plugged into a running guest, and taken away."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from node.guests.channel import CommandFailed
from node.guests.disks import attached
from node.guests.qemu import Guest

Manifest = dict[str, Any]
Device = dict[str, Any]

_ARRIVED: Final = ("MountedToPod", "Ready")
_LEAVES: Final = 20.0  # seconds that a guest gets to let a disk go
_POLL: Final = 0.5


def wanted(vmi: Manifest) -> set[str]:
    """The volumes that are plugged into the guest of a VMI, or can be now."""
    names = {volume["name"] for volume in attached(vmi)}
    statuses = (vmi.get("status") or {}).get("volumeStatus") or []
    return names & {
        entry["name"] for entry in statuses if entry.get("hotplugVolume") is not None and entry.get("phase") in _ARRIVED
    }


class Plugs:
    """What is plugged into one guest. ports: the free ones, for virtio disks."""

    def __init__(self, guest: Guest, ports: list[str]) -> None:
        self._guest = guest
        self._ports = ports
        self._plugged: dict[str, tuple[Device, Device]] = {}

    def missing(self, vmi: Manifest) -> set[str]:
        return wanted(vmi) - self._plugged.keys()

    def superfluous(self, vmi: Manifest) -> set[str]:
        return self._plugged.keys() - wanted(vmi)

    def port(self) -> str:
        """A port for the next disk. Raises CommandFailed if none is free."""
        if not self._ports:
            raise CommandFailed("all ports of the guest are taken")
        return self._ports[0]

    async def plug(self, volume: str, block: Device, device: Device) -> None:
        """Raises CommandFailed."""
        await self._guest.command("blockdev-add", block)
        try:
            await self._guest.command("device_add", device)
        except CommandFailed:
            await self._guest.command("blockdev-del", {"node-name": block["node-name"]})
            raise
        self._plugged[volume] = (block, device)
        if device["bus"] in self._ports:
            self._ports.remove(device["bus"])

    async def unplug(self, volume: str) -> None:
        """Raises CommandFailed if the guest does not let the disk go."""
        block, device = self._plugged[volume]
        await self._guest.command("device_del", {"id": device["id"]})
        deadline = asyncio.get_running_loop().time() + _LEAVES
        while True:
            try:
                await self._guest.command("blockdev-del", {"node-name": block["node-name"]})
                break
            except CommandFailed:
                if asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(_POLL)
        del self._plugged[volume]
        if device["bus"].startswith("port"):
            self._ports.append(device["bus"])
