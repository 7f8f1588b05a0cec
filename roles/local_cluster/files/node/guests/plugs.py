"""Disks and interfaces that are plugged into a running guest, and taken away."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from node.guests.channel import CommandFailed
from node.guests.disks import attached
from node.guests.qemu import Guest

Manifest = dict[str, Any]
Device = dict[str, Any]

DISK: Final = "disk"
INTERFACE: Final = "interface"
_ARRIVED: Final = ("MountedToPod", "Ready")
_LEAVES: Final = 20.0  # seconds that a guest gets to let a device go
_POLL: Final = 0.5
_DEVICES: Final = "/machine/peripheral"
_ADD: Final = {DISK: "blockdev-add", INTERFACE: "netdev_add"}
_REMOVE: Final = {DISK: ("blockdev-del", "node-name"), INTERFACE: ("netdev_del", "id")}

Name = tuple[str, str]
"""DISK or INTERFACE, and the name in the VMI."""


@dataclass(frozen=True)
class Plugged:
    """What a guest has: the block device or network, and the device that the guest sees."""

    backend: Device
    device: Device


def arrived(vmi: Manifest) -> set[Name]:
    """The volumes and interfaces that have reached the pod, so that the guest can have them."""
    names = {volume["name"] for volume in attached(vmi)}
    status = vmi.get("status") or {}
    mounted = {
        entry["name"]
        for entry in status.get("volumeStatus") or []
        if entry.get("hotplugVolume") is not None and entry.get("phase") in _ARRIVED
    }
    in_pod = {entry.get("name") for entry in status.get("interfaces") or [] if entry.get("infoSource")}
    return {(DISK, name) for name in names & mounted} | {(INTERFACE, name) for name in _interfaces(vmi) & in_pod}


def leaves(vmi: Manifest, name: Name) -> bool:
    """Whether the guest has to let something go that it has."""
    kind, own = name
    return own not in _interfaces(vmi) if kind == INTERFACE else name not in arrived(vmi)


def _interfaces(vmi: Manifest) -> set[str]:
    entries = vmi["spec"]["domain"].get("devices", {}).get("interfaces") or []
    return {entry["name"] for entry in entries if entry.get("state") != "absent"}


class Plugs:
    """What can be taken from one guest. ports: the free ones. plugged: what the guest has from its start."""

    def __init__(self, guest: Guest, ports: list[str], plugged: dict[Name, Plugged] | None = None) -> None:
        self._guest = guest
        self._ports = ports
        self._plugged = dict(plugged or {})

    def missing(self, vmi: Manifest) -> set[Name]:
        return arrived(vmi) - self._plugged.keys()

    def superfluous(self, vmi: Manifest) -> set[Name]:
        return {name for name in self._plugged if leaves(vmi, name)}

    def port(self) -> str:
        """A port for the next device. Raises CommandFailed if none is free."""
        if not self._ports:
            raise CommandFailed("all ports of the guest are taken")
        return self._ports[0]

    def take(self, bus: str) -> None:
        """Notes that a device is behind a port."""
        if bus in self._ports:
            self._ports.remove(bus)

    async def plug(self, name: Name, backend: Device, device: Device) -> None:
        """Raises CommandFailed."""
        plugged = Plugged(backend, device)
        await self._guest.command(_ADD[name[0]], backend)
        try:
            await self._guest.command("device_add", device)
        except CommandFailed:
            await self._remove(name[0], plugged)
            raise
        self._plugged[name] = plugged
        self.take(device["bus"])

    async def unplug(self, name: Name) -> None:
        """Raises CommandFailed if the guest does not let the device go."""
        plugged = self._plugged[name]
        await self._guest.command("device_del", {"id": plugged.device["id"]})
        deadline = asyncio.get_running_loop().time() + _LEAVES
        while await self._has(plugged.device["id"]):
            if asyncio.get_running_loop().time() > deadline:
                raise CommandFailed(f"the guest does not let the {' '.join(name)} go")
            await asyncio.sleep(_POLL)
        await self._remove(name[0], plugged)
        del self._plugged[name]
        if plugged.device["bus"].startswith("port"):
            self._ports.append(plugged.device["bus"])

    async def _has(self, device: str) -> bool:
        """Whether a device is there: QEMU keeps it until the guest's driver has let it go."""
        return any(entry["name"] == device for entry in await self._guest.command("qom-list", {"path": _DEVICES}))

    async def _remove(self, kind: str, plugged: Plugged) -> None:
        command, key = _REMOVE[kind]
        await self._guest.command(command, {key: plugged.backend[key]})
