"""Changes of a VM that its running guest lacks.

KubeVirt's condition RestartRequired compares the VM with the ControllerRevision of the guest's start
(``revision-start-vm-UID-GENERATION``), not with the guest, and may outlive the restart that it asks for. The guest was
started with the spec of the VMI, so the VMI shows whether another restart would change anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ...api import errors, quantity
from ...api.manifest import Manifest, has_condition
from ...api.matcher import ROLES
from ...api.tree import copy
from ..find import naming
from ..find.lookup import Lookup
from . import defaults, vmi
from .cluster import Cluster, KubeVirt

# KubeVirt changes these in a running guest, so their values at the start do not count.
_SOCKETS: Final = ("domain", "cpu", "sockets")
_MEMORY: Final = ("domain", "memory", "guest")
_LIVE: Final = (_SOCKETS, _MEMORY)
_DISKS: Final = ("domain", "devices", "disks")
_LIVE_FIELDS: Final = frozenset(".".join(path) for path in _LIVE)
# The conditions of a VMI while KubeVirt plugs them in. Until then, KubeVirt takes up no other change of the field.
_UNDER_WAY: Final = {".".join(_SOCKETS): "HotVCPUChange", ".".join(_MEMORY): "HotMemoryChange"}
# Only the scheduler needs these, and a running guest has been scheduled.
_PLACEMENT: Final = ("nodeSelector", "affinity", "tolerations")

Path = tuple[str, ...]


class Outstanding(NamedTuple):
    """The changes of a VM that its running guest lacks.

    fields: paths in the VMI's spec that the next start changes, such as `domain.cpu.maxSockets`; list items are
    named, `domain.devices.disks.root.disk.bus`.
    problem: why KubeVirt could not start the VM again, in its words, or None; then `fields` is empty. revised: the VM
    has captured other revisions since its guest was started.
    """

    fields: tuple[str, ...] = ()
    problem: str | None = None
    revised: bool = False

    @property
    def guest_current(self) -> bool:
        """Whether the guest has everything that the VM declares, so that a restart changes nothing."""
        return not self.fields and self.problem is None

    @property
    def fixed(self) -> tuple[str, ...]:
        """The fields that KubeVirt never changes in a running guest."""
        return tuple(field for field in self.fields if field not in _LIVE_FIELDS)


def outstanding(vm: Manifest, instance: Manifest, cluster: Cluster, *, compare_all: bool = False) -> Outstanding:
    """The changes that the next start of a VM makes to its guest. vm, instance: plain manifests of the VM and its VMI.

    cluster: its objects include the revision of the guest's start. Without that, everything that the VM declares is
    compared with the VMI; with it, only the changes since the start, and sockets and memory. A guest that was started
    from the current VM lacks nothing.
    compare_all: always compare everything. KubeVirt keeps the revision of an earlier start of the same generation, so
    it may not be the spec with which this guest was started.
    """
    built = vmi.build(vm, cluster)
    if built.spec is None:
        return Outstanding(problem=built.error.message if built.error is not None else "the VM cannot be expanded")
    now, running = dict(_leaves(built.spec)), dict(_leaves(instance["spec"]))
    started = started_spec(vm, instance, cluster.objects)
    unchanged = _start_of(instance) == start_revision_name(vm) and not _revised(vm, started)
    if started is not None and unchanged and not compare_all:
        return Outstanding()
    at_start = None if compare_all else _leaves_at_start(vm, started, cluster)
    if at_start is None:
        lacks = [path for path, value in now.items() if value and not _has(running, path, value)]
    else:
        lacks = _fixed(at_start, now, running)
        lacks += [path for path in _LIVE if now.get(path) and not _has(running, path, now[path])]
    by_default = _by_default(built.spec, now, cluster.kubevirt)
    lacks += [path for path in by_default if path in running and not _same(running[path], by_default[path], True, True)]
    return Outstanding(_field_names(lacks), revised=_revised(vm, started))


def fixed(at_start: Manifest, now: Manifest, running: Manifest) -> tuple[str, ...]:
    """The changed fields that the guest lacks, except sockets and memory.

    at_start, now, running: VMI specs of the guest's start, of the next start, and of the VMI.
    """
    return _field_names(_fixed(*(dict(_leaves(spec)) for spec in (at_start, now, running))))


def _fixed(at_start: dict[Path, Any], now: dict[Path, Any], running: dict[Path, Any]) -> list[Path]:
    lacks = [
        path
        for path in {**at_start, **now}
        if path not in _LIVE
        and not _same(at_start.get(path), now.get(path), path in at_start, path in now)
        and not _follows(running, at_start, now, path)
    ]
    # A VMI loses a CD-ROM drive at once, its guest does not.
    drives = {path[:4] for path in at_start if path[:3] == _DISKS and path[4:5] == ("cdrom",)}
    return [*lacks, *(drives - {path[:4] for path in now})]


def _field_names(lacks: list[Path]) -> tuple[str, ...]:
    return tuple(sorted({".".join(path) for path in lacks if path[0] not in _PLACEMENT}))


def unfinished(instance: Manifest, lacks: Outstanding) -> str | None:
    """The condition of an earlier live update for which what the guest lacks has to wait, or None."""
    waiting = (kind for field, kind in _UNDER_WAY.items() if field in lacks.fields and has_condition(instance, kind))
    return next(waiting, None)


def start_revision_name(vm: Manifest) -> str:
    """The name of the ControllerRevision that KubeVirt writes when it starts this generation of the VM."""
    return f"{start_revision_prefix(vm)}{vm['metadata'].get('generation')}"


def start_revision_prefix(vm: Manifest) -> str:
    """The prefix of the names of all start revisions of a VM."""
    return f"{naming.START}{vm['metadata'].get('uid')}-"


def started_spec(vm: Manifest, instance: Manifest, objects: Lookup) -> Manifest | None:
    """The VM's spec at the guest's start, with the revisions of that time as revisionName; None if it is lost."""
    name = _start_of(instance)
    revision = objects.get("ControllerRevision", vm["metadata"].get("namespace") or "", name) if name else None
    spec: Manifest | None = (revision.get("data") or {}).get("spec") if isinstance(revision, dict) else None
    return spec


def _start_of(instance: Manifest) -> str:
    return (instance.get("status") or {}).get("virtualMachineRevisionName") or ""


def _leaves_at_start(vm: Manifest, started: Manifest | None, cluster: Cluster) -> dict[Path, Any] | None:
    if started is None:
        return None
    built = vmi.build({**vm, "spec": started, "status": {}}, cluster)
    return dict(_leaves(built.spec)) if built.spec is not None else None


def _revised(vm: Manifest, started: Manifest | None) -> bool:
    if started is None:
        return False
    at_start = {**vm, "spec": started, "status": {}}
    return any(naming.referenced(vm, role).name != naming.referenced(at_start, role).name for role in ROLES)


def _by_default(spec: Manifest, declared: dict[Path, Any], kubevirt: KubeVirt) -> dict[Path, Any]:
    """The values of the next start for sockets and memory that the VM does not set; KubeVirt plugs none of them in."""
    full = copy(spec)
    defaults.set_spec_defaults(full, kubevirt)
    values = {_SOCKETS: 1, **dict(_leaves(full))}
    return {path: values[path] for path in _LIVE if path not in declared and path in values}


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


def _follows(running: dict[Path, Any], at_start: dict[Path, Any], now: dict[Path, Any], path: Path) -> bool:
    """Whether the guest has the current value of a field. If the VM no longer sets the field, any default is right."""
    if path in now:
        return _has(running, path, now[path])
    return path not in running or not _same(running[path], at_start[path], True, True)


def _has(running: dict[Path, Any], path: Path, value: Any) -> bool:
    if path in running:
        return _same(running[path], value, True, True)
    # An empty object, such as `masquerade: {}`, may have fields in the VMI.
    return value == {} and any(other[: len(path)] == path for other in running)


def _same(value: Any, other: Any, present: bool, other_present: bool) -> bool:
    if present != other_present or value == other:
        return present == other_present
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
