"""Preferred buses, cache, IO mode, block size and IO threads of disks (KubeVirt ``applyDiskPreferences``)."""

from __future__ import annotations

from typing import Any, Final

from ...api.tree import copy

_TARGETS: Final = frozenset({"disk", "cdrom", "lun"})
_DISK_FIELDS: Final = (
    ("preferredDiskBlockSize", "blockSize"),
    ("preferredDiskCache", "cache"),
    ("preferredDiskIO", "io"),
)


def disks(preferred: dict[str, Any], devices: dict[str, Any]) -> None:
    """A disk without a target becomes a `disk`; of several targets only the first of disk, cdrom, lun counts."""
    for disk in devices.get("disks", ()):
        if _TARGETS.isdisjoint(disk):
            disk["disk"] = {}
        if "disk" in disk:
            _disk_target(preferred, disk)
        elif "cdrom" in disk:
            _bus(preferred.get("preferredCdromBus"), disk["cdrom"])
        else:
            _bus(preferred.get("preferredLunBus"), disk["lun"])


def _disk_target(preferred: dict[str, Any], disk: dict[str, Any]) -> None:
    _bus(preferred.get("preferredDiskBus"), disk["disk"])
    for source, field in _DISK_FIELDS:
        if source in preferred:
            disk.setdefault(field, copy(preferred[source]))
    threaded = disk["disk"].get("bus") == "virtio"
    if threaded and "preferredDiskDedicatedIoThread" in preferred:
        disk.setdefault("dedicatedIOThread", preferred["preferredDiskDedicatedIoThread"])


def _bus(bus: Any, target: dict[str, Any]) -> None:
    if bus:
        target.setdefault("bus", bus)
