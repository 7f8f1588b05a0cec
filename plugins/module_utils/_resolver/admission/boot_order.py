"""Pairs of disk and volume, and the boot order of devices (validateBootOrder)."""

from __future__ import annotations

from collections.abc import Iterator

from .cause import INVALID, REQUIRED, Cause, Spec
from .cluster import Cluster


def check(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateBootOrder, validateInterfaceBootOrder."""
    devices = spec["domain"]["devices"]
    volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
    seen: set[int] = set()
    for index, disk in enumerate(devices.get("disks", ())):
        field = f"{path}.domain.devices.disks[{index}]"
        volume = volumes.get(disk["name"])
        if volume is None:
            yield from _no_volume(disk, field, cluster)
        else:
            yield from _unfit(disk, volume, field)
        yield from _order(disk, field, seen)
    for index, interface in enumerate(devices.get("interfaces", ())):
        if interface.get("bootOrder") == 0:
            # KubeVirt's field names the spec instead of the interface.
            field = f"{path}[{index}]"
            yield Cause(INVALID, f"{field} must have a boot order > 0, if supplied", f"{field}.bootOrder")
        else:
            yield from _order(interface, f"{path}.domain.devices.interfaces[{index}]", seen)


def _no_volume(disk: Spec, field: str, cluster: Cluster) -> Iterator[Cause]:
    if "cdrom" not in disk:
        yield Cause(INVALID, f"{field}.Name '{disk['name']}' not found.", f"{field}.name")
    elif not cluster.has_gate("DeclarativeHotplugVolumes"):
        message = "DeclarativeHotplugVolumes feature gate not enabled, cannot define an empty CD-ROM disk"
        yield Cause(INVALID, message, f"{field}.name")


def _unfit(disk: Spec, volume: Spec, field: str) -> Iterator[Cause]:
    """Causes for a disk whose volume has another type than the disk requires."""
    if "lun" in disk and "persistentVolumeClaim" not in volume and "dataVolume" not in volume:
        message = f"{field}.lun can only be mapped to a DataVolume or PersistentVolumeClaim volume."
        yield Cause(INVALID, message, f"{field}.lun")
    if "downwardMetrics" not in volume:
        return
    if "disk" not in disk:
        message = f"DownwardMetrics volume must be mapped to a disk, but disk is not set on {field}.disk."
        yield Cause(REQUIRED, message, f"{field}.disk")
    elif disk["disk"].get("bus", "") not in ("", "virtio"):
        bus = f"{field}.disk.bus is set to {disk['disk']['bus']}"
        yield Cause(INVALID, f"DownwardMetrics volume must be mapped to virtio bus, but {bus}", f"{field}.disk.bus")


def _order(device: Spec, field: str, seen: set[int]) -> Iterator[Cause]:
    """Causes for the device's boot order; adds it to `seen`."""
    order = device.get("bootOrder")
    if order is None:
        return
    if order in seen:
        message = f"Boot order for {field}.bootOrder already set for a different device."
        yield Cause(INVALID, message, f"{field}.bootOrder")
    seen.add(order)
