"""Disks: names, targets, buses, serial numbers, block sizes, boot order (pkg/storage/admitters/disks.go).

As in KubeVirt, some causes name a path twice (`disks.domain.devices.disks[0]`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...api.fields import ENUMS
from ..config.cluster import KubeVirt
from . import name_errors, since
from .interfaces import PCI_ADDRESS
from .rule import INVALID, NOT_SUPPORTED, REQUIRED, Cause, Spec, items

TARGETS: Final = ("disk", "lun", "cdrom")
_LONGEST_SERIAL: Final = 256
_ERROR_POLICIES: Final = ("stop", "ignore", "report", "enospace")
_SMALLEST_BLOCK: Final = 512
_LARGEST_BLOCK: Final = 2 * 2**20


def check(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateDisks."""
    disks = items(spec, path, "domain.devices.disks")
    path += ".domain.devices.disks"
    for index, (disk, field) in enumerate(disks):
        doubled_field = f"{path}.domain.devices.disks[{index}]"
        for other, other_field in disks[:index]:
            if other["name"] == disk["name"]:
                yield Cause(INVALID, f"{field} and {other_field} must not have the same Name.", f"{field}.name")
        if sum(target in disk for target in TARGETS) > 1:
            yield Cause(INVALID, f"{field} can only have a single target type defined", field)
        yield from _pci_address(disk, f"{path}.domain.devices.disks.disk[{index}]")
        if disk.get("bootOrder") == 0:
            yield Cause(INVALID, f"{field} must have a boot order > 0, if supplied", f"{field}.bootOrder")
        yield from _bus(disk, field, doubled_field)
        yield from _serial(disk.get("serial", ""), field)
        yield from _modes(disk, field, path, doubled_field)
        for message in name_errors.dns_label(disk["name"]):
            yield Cause(INVALID, message, f"{doubled_field}.name")
        yield from _block_size(disk, field, kubevirt)


def persistent_reservation(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validatePersistentReservation."""
    reserved = any((disk.get("lun") or {}).get("reservation") for disk in spec["domain"]["devices"].get("disks", ()))
    setting = kubevirt.release.has(since.RESERVATION_SETTING)
    permitted = kubevirt.reserves_persistently if setting else None
    if permitted is None:
        permitted = kubevirt.has_gate("PersistentReservation")
    if reserved and not permitted:
        message = "persistent reservation is not enabled in kubevirt config"
        if not setting:
            message = "PersistentReservation feature gate is not enabled in kubevirt-config"
        yield Cause(INVALID, message, f"{path}.domain.devices.disks.luns.reservation")


def _target(disk: Spec) -> str:
    """The target whose bus counts; "" if there is none."""
    return next((target for target in TARGETS if target in disk), "")


def _bus_of(disk: Spec) -> str:
    return str(disk.get(_target(disk), {}).get("bus", ""))


def _pci_address(disk: Spec, field: str) -> Iterator[Cause]:
    """validatePciAddress."""
    target = disk.get("disk") or {}
    address = target.get("pciAddress")
    if not address:
        return
    if target.get("bus") != "virtio":
        message = f"disk {field}.name - setting a PCI address is only possible with bus type virtio."
        yield Cause(INVALID, message, f"{field}.pciAddress")
    if not PCI_ADDRESS.fullmatch(address):
        yield Cause(INVALID, f"disk {field}.name has malformed PCI address ({address}).", f"{field}.pciAddress")


def _bus(disk: Spec, field: str, doubled_field: str) -> Iterator[Cause]:
    """validateBusSupport."""
    bus, target = _bus_of(disk), _target(disk)
    if not bus:
        return
    if bus == "ide":
        yield Cause(INVALID, "IDE bus is not supported", f"{field}.{target}.bus")
    elif bus not in ENUMS["DiskBus"]:
        buses = " ".join(ENUMS["DiskBus"])
        message = f"{field} is set with an unrecognized bus {bus}, must be one of: [{buses}]"
        yield Cause(INVALID, message, f"{field}.{target}.bus")
    elif bus == "virtio" and target == "cdrom":
        yield Cause(INVALID, f"Bus type {bus} is invalid for CD-ROM device", f"{field}.cdrom.bus")
    elif bus == "sata" and (disk.get("disk") or {}).get("readonly"):
        yield Cause(INVALID, f"{bus} hard-disks do not support read-only.", f"{field}.disk.bus")
    if disk.get("dedicatedIOThread") and bus != "virtio":
        yield Cause(NOT_SUPPORTED, f"IOThreads are not supported for disks on a {bus} bus", doubled_field)


def _serial(serial: str, field: str) -> Iterator[Cause]:
    """validateSerialNumValue, validateSerialNumLength."""
    if serial and not re.fullmatch("[A-Za-z0-9_.+-]+", serial):
        message = f"{field} must be made up of the following characters [A-Za-z0-9_.+-], if specified"
        yield Cause(INVALID, message, f"{field}.serial")
    if len(serial) > _LONGEST_SERIAL:
        message = f"{field} must be less than or equal to {_LONGEST_SERIAL} in length, if specified"
        yield Cause(INVALID, message, f"{field}.serial")


def _modes(disk: Spec, field: str, path: str, doubled_field: str) -> Iterator[Cause]:
    """validateCacheMode, validateIOMode, validateErrorPolicy."""
    cache, io, policy = disk.get("cache", ""), disk.get("io", ""), disk.get("errorPolicy")
    if cache and cache not in ENUMS["DiskCache"]:
        yield Cause(INVALID, f"{field}.cache has invalid value {cache}", f"{field}.cache")
    if io and io not in ENUMS["DiskIO"]:
        message = f"Disk IO mode for {path} is not supported. Supported modes are: native, threads."
        yield Cause(NOT_SUPPORTED, message, f"{doubled_field}.io")
    if policy is not None and policy not in _ERROR_POLICIES:
        yield Cause(INVALID, f'{field}.errorPolicy has invalid value "{policy}"', f"{field}.errorPolicy")


def _block_size(disk: Spec, field: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateBlockSize."""
    block_size = disk.get("blockSize") or {}
    custom, match = block_size.get("custom"), block_size.get("matchVolume")
    field += ".blockSize"
    if custom is None:
        return
    if match is not None and match.get("enabled", True):
        message = "Block size matching can't be enabled together with a custom value"
        yield Cause(INVALID, message, field)
        return
    logical, physical = custom.get("logical", 0), custom.get("physical", 0)
    granularity = custom.get("discardGranularity")
    if logical > physical:
        message = f"Logical size {logical} must be the same or less than the physical size of {physical}"
        yield Cause(INVALID, message, f"{field}.custom.logical")
    elif kubevirt.release.has(since.SATA_BLOCKS) and _bus_of(disk) == "sata" and logical != _SMALLEST_BLOCK:
        message = f"Logical size {logical} must be {_SMALLEST_BLOCK} for SATA devices"
        yield Cause(INVALID, message, f"{field}.custom.logical")
    elif granularity is not None and logical and granularity % logical:
        message = f"Discard granularity {granularity} must be multiples of logical size {logical}"
        yield Cause(INVALID, message, f"{field}.custom.discardGranularity")
    else:
        for kind, size in (("logical", logical), ("physical", physical)):
            mistake = _block_size_error(size)
            if mistake:
                yield Cause(INVALID, f"Provided size of {size} is {mistake}", f"{field}.custom.{kind}")


def _block_size_error(size: int) -> str:
    """validateCustomBlockSize."""
    if size < _SMALLEST_BLOCK:
        return f"less than the supported minimum size of {_SMALLEST_BLOCK}"
    if size > _LARGEST_BLOCK:
        return f"greater than the supported maximum size of {_LARGEST_BLOCK}"
    return "not a power of 2" if size & (size - 1) else ""


def boot_order(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateBootOrder, validateInterfaceBootOrder."""
    volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
    orders: set[int] = set()
    for disk, field in items(spec, path, "domain.devices.disks"):
        volume = volumes.get(disk["name"])
        if volume is None:
            yield from _missing_volume(disk, field, kubevirt)
        else:
            yield from _volume_mismatch(disk, volume, field)
        yield from _unique_order(disk, field, orders)
    for index, (interface, field) in enumerate(items(spec, path, "domain.devices.interfaces")):
        if interface.get("bootOrder") == 0:
            # KubeVirt's field names the spec instead of the interface.
            field = f"{path}[{index}]"
            yield Cause(INVALID, f"{field} must have a boot order > 0, if supplied", f"{field}.bootOrder")
        else:
            yield from _unique_order(interface, field, orders)


def _missing_volume(disk: Spec, field: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    if "cdrom" not in disk or not kubevirt.release.has(since.EMPTY_CDROMS):
        yield Cause(INVALID, f"{field}.Name '{disk['name']}' not found.", f"{field}.name")
    elif not kubevirt.has_gate("DeclarativeHotplugVolumes"):
        message = "DeclarativeHotplugVolumes feature gate not enabled, cannot define an empty CD-ROM disk"
        yield Cause(INVALID, message, f"{field}.name")


def _volume_mismatch(disk: Spec, volume: Spec, field: str) -> Iterator[Cause]:
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


def _unique_order(device: Spec, field: str, orders: set[int]) -> Iterator[Cause]:
    """Causes for the device's boot order; adds it to `orders`."""
    order = device.get("bootOrder")
    if order is None:
        return
    if order in orders:
        message = f"Boot order for {field}.bootOrder already set for a different device."
        yield Cause(INVALID, message, f"{field}.bootOrder")
    orders.add(order)
