"""Which changes of volumes and disks a running guest can take (pure)."""

from __future__ import annotations

from typing import Any

from _resolver.api import semantic
from _resolver.instancetype.vmi.hot_plug import is_hotpluggable

Manifest = dict[str, Any]


def volumes_change_live(vm: Manifest, then: Manifest, wanted: Manifest) -> bool:
    """Whether all changed volumes can be hotplugged, or are replaced by migration.

    then, wanted: VMI specs.
    """
    migrates = vm["spec"].get("updateVolumesStrategy") == "Migration"
    left = _by_name(then.get("volumes"))
    for volume in wanted.get("volumes") or []:
        before = left.pop(volume["name"], None)
        if is_hotpluggable(volume):
            continue
        persistent = volume.get("persistentVolumeClaim") is not None or volume.get("dataVolume") is not None
        if before is None or not (semantic.equal("Volume", before, volume) or (persistent and migrates)):
            return False
    return all(is_hotpluggable(volume) for volume in left.values())


def disks_change_live(then: Manifest, wanted: Manifest) -> bool:
    """Whether all changed disks belong to volumes that can be hotplugged."""
    volumes_then, volumes = _by_name(then.get("volumes")), _by_name(wanted.get("volumes"))
    left = _by_name(then["domain"]["devices"].get("disks"))
    for disk in wanted["domain"]["devices"].get("disks") or []:
        name = disk["name"]
        before = left.pop(name, None)
        if name in volumes and is_hotpluggable(volumes[name]):
            continue
        if before is None or not semantic.equal("Disk", before, disk):
            return False
    return not any(
        disk.get("cdrom") is not None or (name in volumes_then and not is_hotpluggable(volumes_then[name]))
        for name, disk in left.items()
    )


def _by_name(entries: list[Manifest] | None) -> dict[str, Manifest]:
    return {entry["name"]: entry for entry in entries or []}
