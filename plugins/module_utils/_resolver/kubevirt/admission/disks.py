"""Disks: names, targets, buses, serial numbers, block sizes, boot order (pkg/storage/admitters/disks.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...api import behaviour
from ...api.fields import ENUMS
from ...api.name_rules import label, quoted
from ..cluster import KubeVirt
from ..gates import PLUG_DECLARED
from .interfaces import PCI_ADDRESS
from .rows import Group, Place, Row, at_most, at_most_one, closed, conforms, matches, one_of, unique
from .rule import INVALID, Cause, Spec

TARGETS: Final = ("disk", "lun", "cdrom")
_PATH: Final = "domain.devices.disks[]"
# Some fields name a path twice, as in KubeVirt.
_TWICE: Final = "{spec}.domain.devices.disks.domain.devices.disks[{index}]"
_PCI: Final = "{spec}.domain.devices.disks.domain.devices.disks.disk[{index}].pciAddress"
_LONGEST_SERIAL: Final = 256
_SMALLEST_BLOCK: Final = 512
_LARGEST_BLOCK: Final = 2 * 2**20


def _target(disk: Spec) -> str:
    """The target whose bus counts; "" if there is none."""
    return next((target for target in TARGETS if target in disk), "")


def _bus_of(disk: Spec) -> str:
    return str(disk.get(_target(disk), {}).get("bus", ""))


def _bus(target: str) -> Row:
    """validateBusSupport: the bus of the target that counts."""

    def check(bus: str, place: Place) -> str:
        if not bus or _target(place.entry) != target:
            return ""
        if bus == "virtio" and target == "cdrom":
            return "must not be virtio for a CD-ROM; use sata"
        readonly = bus == "sata" and (place.entry.get("disk") or {}).get("readonly")
        return _is_bus(bus, place) or ("must not be sata for a read-only disk; use virtio" if readonly else "")

    return Row(f"{target}.bus", check)


_is_bus: Final = one_of(*ENUMS["DiskBus"])


def _not_zero(order: int, _place: Place) -> str:
    return "" if order else "must be 1 or more; remove it, or count from 1"


def _only_virtio(address: str, place: Place) -> str:
    return (
        ""
        if not address or place.get("disk.bus") == "virtio"
        else "needs the bus virtio; set it, or remove the address"
    )


def _dedicated_thread(dedicated: bool, place: Place) -> str:
    bus = _bus_of(place.entry)
    return f"needs the bus virtio, not {bus}; remove it" if dedicated and bus not in ("", "virtio") else ""


def _is_block_size(size: int) -> bool:
    """validateCustomBlockSize."""
    return _SMALLEST_BLOCK <= size <= _LARGEST_BLOCK and not size & (size - 1)


def _block_size(disk: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateBlockSize; each size is judged only if they fit together."""
    sizes = disk.get("blockSize") or {}
    custom, match = sizes.get("custom"), sizes.get("matchVolume")
    if custom is None:
        return
    if match is not None and match.get("enabled", True):
        yield Cause(INVALID, "blockSize has custom and matchVolume; remove one", f"{path}.blockSize")
        return
    logical, physical, granularity = (custom.get(name, 0) for name in ("logical", "physical", "discardGranularity"))
    small_only = kubevirt.release.has(behaviour.SATA_BLOCKS) and _bus_of(disk) == "sata"
    problems = {}
    if logical > physical:
        problems["logical"] = f"{logical} is more than the physical size, {physical}; lower it"
    elif small_only and logical != _SMALLEST_BLOCK:
        problems["logical"] = f"must be {_SMALLEST_BLOCK} on a SATA disk, not {logical}"
    elif logical and granularity % logical:
        problems["discardGranularity"] = f"must be a multiple of the logical size, {logical}, not {granularity}"
    else:
        limits = f"must be a power of 2 from {_SMALLEST_BLOCK} to {_LARGEST_BLOCK}"
        judged = {"logical": logical, "physical": physical}
        problems = {name: f"{limits}, not {size}" for name, size in judged.items() if not _is_block_size(size)}
    for name, problem in problems.items():
        yield Cause(INVALID, f"{name} {problem}", f"{path}.blockSize.custom.{name}")


RULES: Final = Group(  # ValidateDisks
    _PATH,
    unique("name"),
    Row("", at_most_one(*TARGETS)),
    Row("disk.pciAddress", _only_virtio, at=_PCI),
    Row("disk.pciAddress", PCI_ADDRESS, at=_PCI),
    Row("bootOrder", _not_zero),
    *map(_bus, TARGETS),
    Row("dedicatedIOThread", _dedicated_thread, at=_TWICE),
    # validateSerialNumValue, validateSerialNumLength
    Row("serial", matches("[A-Za-z0-9_.+-]+", "of letters, digits, _, ., + and -")),
    Row("serial", at_most(_LONGEST_SERIAL, "characters")),
    # validateCacheMode, validateIOMode, validateErrorPolicy
    Row("cache", one_of("", *ENUMS["DiskCache"])),
    Row("io", one_of("", *ENUMS["DiskIO"]), at=f"{_TWICE}.io"),
    Row("errorPolicy", one_of("stop", "ignore", "report", "enospace")),
    Row("name", conforms(label), at=f"{_TWICE}.name"),
    _block_size,
)


def _volume(place: Place) -> Spec | None:
    """The volume of a disk; of duplicates the last."""
    return place.named("volumes").get(place.entry["name"])


def _has_volume(name: str, place: Place) -> str:
    if _volume(place) is not None:
        return ""
    if "cdrom" in place.entry and place.kubevirt.release.has(behaviour.EMPTY_CDROMS):
        open_gate = place.kubevirt.has_gate(PLUG_DECLARED)
        return "" if open_gate else f"is of an empty CD-ROM, which {closed(PLUG_DECLARED)}"
    return f"{quoted(name)} is no volume; add one, or remove the disk"


def _lun(_lun: Spec, place: Place) -> str:
    volume = _volume(place)
    wrong = volume is not None and "persistentVolumeClaim" not in volume and "dataVolume" not in volume
    return "needs a volume with a persistentVolumeClaim or dataVolume; use disk instead" if wrong else ""


def _metrics(disk: Spec | None, place: Place) -> str:
    wrong = disk is None and "downwardMetrics" in (_volume(place) or {})
    return "is missing, which a volume of downwardMetrics needs; set it" if wrong else ""


def _metrics_bus(bus: str, place: Place) -> str:
    wrong = bus not in ("", "virtio") and "downwardMetrics" in (_volume(place) or {})
    return f"must be virtio for a volume of downwardMetrics, not {bus}" if wrong else ""


def _used_by_disk(order: int, place: Place) -> str:
    disks = place.spec["domain"]["devices"].get("disks", ())
    used = any(disk.get("bootOrder") == order for disk in disks)
    return f"{order} is used twice; choose another" if order and used else ""


def _repeated(order: int, place: Place) -> str:
    return unique("bootOrder").check(order, place) if order else ""


BOOT_ORDER: Final = Group(
    "",
    Group(  # validateBootOrder
        _PATH,
        Row("name", _has_volume),
        Row("lun", _lun),
        Row("disk", _metrics, absent=True),
        Row("disk.bus", _metrics_bus),
        unique("bootOrder"),
    ),
    Group(  # validateInterfaceBootOrder; a field names the spec instead of the interface
        "domain.devices.interfaces[]",
        Row("bootOrder", _not_zero, at="{spec}[{index}].bootOrder"),
        Row("bootOrder", _used_by_disk),
        Row("bootOrder", _repeated),
    ),
)


def _reservation(disks: list[Spec], place: Place) -> str:
    """validatePersistentReservation."""
    if not any((disk.get("lun") or {}).get("reservation") for disk in disks):
        return ""
    permitted = (
        place.kubevirt.reserves_persistently if place.kubevirt.release.has(behaviour.RESERVATION_SETTING) else None
    )
    if permitted is None:
        permitted = place.kubevirt.has_gate("PersistentReservation")
    return "" if permitted else "has a reservation, which the KubeVirt object does not enable; remove it"


RESERVATION: Final = Group(
    "", Row("domain.devices.disks", _reservation, at="{spec}.domain.devices.disks.luns.reservation")
)
