"""Whether virt-api lets virt-controller plug volumes into a running VMI (``AdmitHotplugStorage``)."""

from __future__ import annotations

from typing import Final

from ...api.manifest import Manifest

BUSES: Final = {"disk": ("scsi", "virtio"), "lun": ("scsi",)}
"""The buses by which a running guest gets a disk; the first, which virtctl takes, is the default."""


def accepts(running: Manifest, volumes: list[Manifest], disks: list[Manifest]) -> bool:
    """Whether a VMI may get these volumes and disks, as far as virt-controller can plug them.

    running: the VMI's spec before, canonical.
    """
    devices = running["domain"]["devices"]
    present = {disk["name"] for disk in devices.get("disks") or ()}
    names = {volume["name"] for volume in volumes if volume.get("memoryDump") is None}
    # A CD-ROM drive may be empty.
    mapped = [disk for disk in disks if disk["name"] in names or disk.get("cdrom") is None]
    if len(mapped) + len(devices.get("filesystems") or ()) != len(names):
        return False
    return all(can_be_plugged(disk) for disk in disks if disk["name"] not in present)


def can_be_plugged(disk: Manifest) -> bool:
    """Whether a running guest may get a disk (``ValidateHotplugDiskConfiguration``). It needs an explicit bus, and a
    CD-ROM drive is there from the start.
    """
    for target, buses in BUSES.items():
        if disk.get(target) is not None:
            bus = disk[target].get("bus")
            return bus in buses and (bus == "virtio" or not disk.get("dedicatedIOThread"))
    return False
