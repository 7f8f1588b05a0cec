"""What a change of a VM means for its running guest: what is changed in the VMI, and what asks for a restart.

KubeVirt compares the VM, expanded, with what it was when the guest was started; the condition RestartRequired says that
they differ in more than can be changed in a running guest (``virt-controller/watch/vm``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ...api import quantity
from ...api.release import NEWEST, Release
from ...api.tree import copy
from ..find.find import Lookup
from . import vmi
from .defaults import Configuration

__all__ = ["HOTPLUG_RATIO", "Update", "compare", "foreseen"]

Manifest = dict[str, Any]

_OTHER_FIELD: Final = "a non-live-updatable field was changed in the template spec"
_NOT_MIGRATABLE: Final = "memory updated in template spec. Memory-hotplug is only available for migratable VMs"
_NO_MEMORY_LIMIT: Final = "memory updated in template spec. Memory-hotplug is not available for this VM configuration"
_TOO_MUCH_MEMORY: Final = "memory updated in template spec to a value higher than what's available"
_LESS_THAN_AT_BOOT: Final = "memory updated in template spec to a value lower than what the VM started with"
_FEWER_SOCKETS: Final = "Reduction of CPU socket count requires a restart"
_TOO_MANY_SOCKETS: Final = "CPU sockets updated in template spec to a value higher than what's available"
_MULTIQUEUE: Final = "Changes to CPU sockets require a restart when NetworkInterfaceMultiQueue is enabled"
# What a guest can be given while it runs, as a multiple of what it was started with, where the VM does not say it
# (maxHotplugRatio).
HOTPLUG_RATIO: Final = 4
# Fields of a VMI's spec, besides sockets, memory and volumes, that KubeVirt changes while the guest runs.
_LIVE_FIELDS: Final = ("nodeSelector", "affinity", "tolerations")


class Update(NamedTuple):
    """patch: JSON patch of the VMI, empty for no change. restart_required: why a restart is needed."""

    patch: tuple[Manifest, ...] = ()
    restart_required: str | None = None


def compare(
    vm: Manifest,
    started: Manifest,
    instance: Manifest,
    objects: Lookup,
    config: Configuration,
    *,
    live: bool = True,
    release: Release = NEWEST,
) -> Update:
    """What the changes of a VM since its start mean.

    vm: as it is to be. started: its spec when the guest was started. instance: its running VMI.
    objects: instancetypes, preferences and revisions. live: whether the cluster changes running guests at all
    (vmRolloutStrategy). A VM that cannot be expanded means nothing.
    """
    then = vmi.build({**vm, "spec": started, "status": {}}, objects, config, release).spec
    now = vmi.build(vm, objects, config, release).spec
    if then is None or now is None:
        return Update()
    if not live:
        return Update(restart_required=_OTHER_FIELD if then != now else None)
    if _fixed(then) != _fixed(now):
        return Update(restart_required=_OTHER_FIELD)
    running = instance["spec"]
    patch = [_set(field, now.get(field)) for field in _LIVE_FIELDS if now.get(field) != running.get(field)]
    restart = None
    for found in (_sockets(now, running), _memory(now, instance)):
        if isinstance(found, str):
            restart = found
        elif found is not None:
            patch.append(found)
    return Update((*patch, *_plugged(now, running)), restart)


def foreseen(vm: Manifest, before: Manifest, after: Manifest) -> bool:
    """Whether a running guest is likely to take the change of its spec without a restart, told from the VM alone.

    before, after: applied VMI specs. What the guest was started with and what the cluster allows is not known here, so
    that only virt-controller's answer is certain.
    """
    if _fixed(before) != _fixed(after):
        return False
    running = copy(before)
    cpu, memory = running["domain"].get("cpu") or {}, running["domain"].get("memory") or {}
    if "sockets" in cpu:
        cpu.setdefault("maxSockets", cpu["sockets"] * HOTPLUG_RATIO)
    if "guest" in memory:
        most = quantity.parse(memory["guest"]).value * HOTPLUG_RATIO
        memory.setdefault("maxGuest", str(most))
    instance = {"spec": running, "status": vm.get("status") or {}}
    return not any(isinstance(found, str) for found in (_sockets(after, running), _memory(after, instance)))


def _set(field: str, value: Any) -> Manifest:
    if value is None:
        return {"op": "remove", "path": f"/spec/{field}"}
    return {"op": "add", "path": f"/spec/{field}", "value": value}


def _sockets(now: Manifest, running: Manifest) -> Manifest | str | None:
    """The change of the guest's sockets, or why that needs a restart; None for no change."""
    cpu, current = now["domain"].get("cpu") or {}, running["domain"].get("cpu") or {}
    wanted, present = cpu.get("sockets", 0), current.get("sockets", 0)
    if not cpu or not current or wanted == present:
        return None
    if wanted > current.get("maxSockets", 0):
        return _TOO_MANY_SOCKETS
    if wanted < present:
        return _FEWER_SOCKETS
    if now["domain"]["devices"].get("networkInterfaceMultiqueue"):
        return _MULTIQUEUE
    return _set("domain/cpu/sockets", wanted)


def _memory(now: Manifest, instance: Manifest) -> Manifest | str | None:
    """Likewise for its memory."""
    running = instance["spec"]
    current = running["domain"].get("memory") or {}
    text = (now["domain"].get("memory") or {}).get("guest")
    wanted, present, most = (_nanos(one) for one in (text, current.get("guest"), current.get("maxGuest")))
    if wanted is None or present is None or wanted == present:
        return None
    status: Manifest = instance.get("status") or {}
    conditions = status.get("conditions") or []
    if not any(one["type"] == "LiveMigratable" and one["status"] == "True" for one in conditions):
        return _NOT_MIGRATABLE
    if most is None:
        return _NO_MEMORY_LIMIT
    if wanted > most:
        return _TOO_MUCH_MEMORY
    at_boot = _nanos((status.get("memory") or {}).get("guestAtBoot"))
    if at_boot is not None and wanted < at_boot:
        return _LESS_THAN_AT_BOOT
    return _set("domain/memory/guest", text)


def _nanos(text: Any) -> int | None:
    return quantity.parse(text).nanos if text else None


def _plugged(now: Manifest, running: Manifest) -> Iterator[Manifest]:
    """Volumes that are plugged in and out, and their disks."""
    parts = (("volumes", _volumes), ("domain/devices/disks", _disks))
    names = {volume["name"] for volume in (*_volumes(now), *_volumes(running)) if _hot(volume)}
    for field, of in parts:
        wanted = [entry for entry in of(now) if entry["name"] in names]
        present = [entry for entry in of(running) if entry["name"] in names]
        if [entry["name"] for entry in wanted] != [entry["name"] for entry in present]:
            yield _set(field, [entry for entry in of(running) if entry["name"] not in names] + wanted)


def _volumes(spec: Manifest) -> list[Manifest]:
    found: list[Manifest] = spec.get("volumes") or []
    return found


def _disks(spec: Manifest) -> list[Manifest]:
    found: list[Manifest] = (spec["domain"].get("devices") or {}).get("disks") or []
    return found


def _hot(volume: Manifest) -> bool:
    """Whether a volume may be plugged in and out of a running guest."""
    return any(isinstance(source, dict) and source.get("hotpluggable") for source in volume.values())


def _fixed(spec: Manifest) -> Manifest:
    """The spec without what can change while the guest runs."""
    fixed = copy({key: value for key, value in spec.items() if key not in _LIVE_FIELDS})
    (fixed["domain"].get("cpu") or {}).pop("sockets", None)
    memory = fixed["domain"].get("memory")
    if memory is not None:
        memory.pop("guest", None)
        if not memory:
            del fixed["domain"]["memory"]
    hot = {volume["name"] for volume in _volumes(fixed) if _hot(volume)}
    if hot:
        fixed["volumes"] = [volume for volume in _volumes(fixed) if volume["name"] not in hot]
        fixed["domain"]["devices"]["disks"] = [disk for disk in _disks(fixed) if disk["name"] not in hot]
    return fixed
