"""The fields of a VM that its running guest lacks and its next start would change.

KubeVirt's condition RestartRequired compares the VM with the ControllerRevision of the guest's start, not with the
guest, and may outlive the restart that it asks for. The guest was started with the spec of the VMI, and virt-controller
keeps that spec up to date, so the VMI shows whether a restart would change anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..api import errors, quantity
from ..api.manifest import Manifest
from ..api.tree import copy
from ..kubevirt.cluster import KubeVirt
from ..kubevirt.vm.vmi_defaults import set_vmi_defaults

# KubeVirt changes these in a running guest, so their values at the start do not count.
_SOCKETS: Final = ("domain", "cpu", "sockets")
_MEMORY: Final = ("domain", "memory", "guest")
_LIVE: Final = (_SOCKETS, _MEMORY)
_DEVICES: Final = ("domain", "devices")
_DISKS: Final = (*_DEVICES, "disks")
# KubeVirt unplugs an interface only if the VM keeps it with the state `absent`.
_PLUGGED: Final = ((*_DEVICES, "interfaces"), ("networks",))
# Only the scheduler needs these, and a running guest has been scheduled.
_PLACEMENT: Final = ("nodeSelector", "affinity", "tolerations")

Path = tuple[str, ...]

# Values of the guest where the VMI says nothing (converter of virt-launcher, types of ``kubevirt.io/api/core/v1``).
_UNSET: Final[dict[Path, Any]] = {
    ("domain", "cpu", "cores"): 1,
    ("domain", "cpu", "sockets"): 1,
    ("domain", "cpu", "threads"): 1,
    (*_DEVICES, "autoattachGraphicsDevice"): True,
    (*_DEVICES, "autoattachMemBalloon"): True,
    (*_DEVICES, "autoattachPodInterface"): True,
    (*_DEVICES, "autoattachSerialConsole"): True,
    (*_DEVICES, "autoattachInputDevice"): False,
    (*_DEVICES, "autoattachVSOCK"): False,
    (*_DEVICES, "blockMultiQueue"): False,
    (*_DEVICES, "networkInterfaceMultiqueue"): False,
    (*_DEVICES, "useVirtioTransitional"): False,
    ("terminationGracePeriodSeconds",): 30,
}
_MISSING: Final = object()


def outstanding(
    next_start: Manifest, at_start: Manifest | None, running: Manifest, kubevirt: KubeVirt
) -> tuple[str, ...]:
    """The fields that the next start changes in a guest: sorted paths in the VMI's spec, such as `domain.cpu.model`.
    List items are named, `domain.devices.disks.root.disk.bus`.

    next_start, at_start: the specs that the VM gives its next VMI, and gave the VMI at the guest's start, without
    defaults (`vmi.build`). running: the spec of the VMI.
    Without `at_start`, everything that the VM declares is compared with the VMI; with it, only what has changed since,
    sockets, memory and interfaces.
    """
    running, next_start = _without_absent(running), _without_absent(next_start)
    now, has = dict(_leaves(next_start)), dict(_leaves(running))
    gets = dict(_leaves(_with_defaults(next_start, kubevirt)))
    started = None if at_start is None else dict(_leaves(at_start))
    if started is None:
        lacks = [path for path, value in now.items() if value and not _same(has, now, path)]
    else:
        lacks = [path for path in {**started, **now} if path not in _LIVE and _is_changed(started, now, path)]
        lacks = [path for path in lacks if not _is_consequence(has, started, now, gets, path)]
    lacks += [path for path in _LIVE if path in now or path in has if not _same(has, gets, path)]
    lacks += _extra_devices(running, next_start)
    if started is not None:
        # A VMI loses a CD-ROM drive immediately, its guest does not.
        drives = {path[:4] for path in started if path[:3] == _DISKS and path[4:5] == ("cdrom",)}
        lacks += drives - {path[:4] for path in now}
    return tuple(sorted({".".join(path) for path in lacks if path[0] not in _PLACEMENT}))


def _with_defaults(next_start: Manifest, kubevirt: KubeVirt) -> Manifest:
    full = copy(next_start)
    set_vmi_defaults(full, kubevirt, maximums=False)
    return full


def _without_absent(spec: Manifest) -> Manifest:
    """The spec without the interfaces that KubeVirt unplugs, and without their networks."""
    devices = spec["domain"].get("devices") or {}
    absent = {entry["name"] for entry in devices.get("interfaces") or () if entry.get("state") == "absent"}
    if not absent:
        return spec
    interfaces, networks = (
        [entry for entry in entries or () if entry["name"] not in absent]
        for entries in (devices.get("interfaces"), spec.get("networks"))
    )
    devices = {**devices, "interfaces": interfaces}
    return {**spec, "domain": {**spec["domain"], "devices": devices}, "networks": networks}


def _is_changed(started: dict[Path, Any], now: dict[Path, Any], path: Path) -> bool:
    present = path in started, path in now
    return present[0] != present[1] or not _equal(started[path], now[path])


def _is_consequence(
    has: dict[Path, Any], started: dict[Path, Any], now: dict[Path, Any], gets: dict[Path, Any], path: Path
) -> bool:
    """Whether the guest has the current value of a field that has changed since its start."""
    if path in now:
        return _same(has, now, path)
    # If neither the VM nor KubeVirt sets the field any more, any value but the one at the start is somebody else's.
    return _same(has, gets, path) or (path not in gets and not _equal(has.get(path), started[path]))


def _extra_devices(running: Manifest, next_start: Manifest) -> Iterator[Path]:
    """The interfaces and networks of the guest that the VM no longer has, such as ones plugged in after the start."""
    for place in _PLUGGED:
        has, gets = ({path[: len(place) + 1] for path in _items(spec, place)} for spec in (running, next_start))
        yield from has - gets


def _items(spec: Manifest, place: Path) -> Iterator[Path]:
    value: Any = spec
    for key in place:
        value = value.get(key) or {}
    yield from ((*place, str(entry["name"])) for entry in value or ())


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """(path, value) of all leaves. List items are named in the path."""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from _leaves(entry, (*path, key))
    elif isinstance(value, list) and value and all(isinstance(entry, dict) and "name" in entry for entry in value):
        for entry in value:
            yield from _leaves(entry, (*path, str(entry["name"])))
    else:
        yield path, value


def _same(has: dict[Path, Any], gets: dict[Path, Any], path: Path) -> bool:
    """Whether the guest has, in a field, what its next start gives it."""
    value, other = _value(has, path), _value(gets, path)
    if value is _MISSING:
        # An empty object, such as `masquerade: {}`, may have fields in the VMI.
        return other is _MISSING or (other == {} and any(known[: len(path)] == path for known in has))
    return _equal(value, other)


def _value(leaves: dict[Path, Any], path: Path) -> Any:
    return leaves[path] if path in leaves else _UNSET.get(path, _MISSING)


def _equal(value: Any, other: Any) -> bool:
    if value == other:
        return True
    amount = _amount(value)
    return amount is not None and amount == _amount(other)


def _amount(value: Any) -> int | None:
    """The nano units of a quantity; None for other values."""
    if not isinstance(value, str):
        return None
    try:
        return quantity.parse(value).nanos
    except errors.QuantityError:
        return None
