"""Volumes that a running guest gets and loses (`hotpluggable`), and the disks that they need."""

from __future__ import annotations

from typing import Any, Final

from ...api.errors import FieldError

_SOURCES: Final = ("persistent_volume_claim", "data_volume", "import")
# The buses by which a running guest gets a disk; the first, which virtctl takes, is the default. A running guest gets
# no CD-ROM drive, only the volume in it.
_BUSES: Final = {"disk": ("scsi", "virtio"), "lun": ("scsi",)}


def make_hotpluggable(path: str, kind: str, source: dict[str, Any]) -> None:
    """Marks the source of a volume. path: of the volume's options. kind: the option of the source. Raises FieldError
    for a source that only a stopped VM takes.
    """
    if kind not in _SOURCES:
        raise FieldError(f"{path}.hotpluggable", f"only valid for {', '.join(_SOURCES)}, not for {kind}; remove it")
    for fields in source.values():
        fields["hotpluggable"] = True


def bus_of(path: str, device: str, bus: str | None) -> str | None:
    """The bus of a hotpluggable disk (``ValidateHotplugDiskConfiguration``); None for that of the preference, which
    only a CD-ROM drive gets. Raises FieldError for another bus than KubeVirt plugs.
    """
    buses = _BUSES.get(device)
    if buses is None:
        return bus
    if bus is not None and bus not in buses:
        raise FieldError(
            f"{path}.bus", f"{bus} cannot be plugged into a running guest; write {' or '.join(buses)}, or remove it"
        )
    return bus or buses[0]
