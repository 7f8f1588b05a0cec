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

__all__ = ["HOTPLUG_RATIO", "Update", "compare", "foreseen", "memory", "plugged", "scheduling", "sockets"]

Manifest = dict[str, Any]

_OTHER_FIELD: Final = "a non-live-updatable field was changed in the template spec"
_FEWER_SOCKETS: Final = "Reduction of CPU socket count requires a restart"
_TOO_MANY_SOCKETS: Final = "CPU sockets updated in template spec to a value higher than what's available"
_SOCKETS_ON_ARM: Final = "ARM doesn't support CPU hotplug"
_SOCKETS_UNDER_WAY: Final = "another CPU hotplug is in progress"
_MEMORY: Final = "memory updated in template spec"
_MEMORY_FAILED: Final = f"{_MEMORY}. Memory-hotplug failed and is not available for this VM configuration"
_NOT_MIGRATABLE: Final = f"{_MEMORY}. Memory-hotplug is only available for migratable VMs"
_NO_MEMORY_LIMIT: Final = f"{_MEMORY}. Memory-hotplug is not available for this VM configuration"
_LESS_THAN_AT_BOOT: Final = f"{_MEMORY} to a value lower than what the VM started with"
_MEMORY_UNDER_WAY: Final = "another memory hotplug is in progress"
_MEMORY_REFUSED: Final = "memory hotplug not supported, {reason}"
_MEMORY_BLOCK: Final = 2 * 2**20  # bytes
_LARGE_MEMORY_BLOCK: Final = 2**30  # with huge pages of that size
_LEAST_MEMORY: Final = 2**30
# What a guest can be given while it runs, as a multiple of what it was started with, where the VM does not say it
# (maxHotplugRatio).
HOTPLUG_RATIO: Final = 4
# Fields of a VMI's spec, besides sockets, memory and volumes, that KubeVirt changes while the guest runs.
_LIVE_FIELDS: Final = ("nodeSelector", "affinity", "tolerations")


class Update(NamedTuple):
    """patch: JSON patch of the VMI, empty for no change. restart_required: why a restart is needed.
    failure: why virt-controller cannot decide now, and tries again."""

    patch: tuple[Manifest, ...] = ()
    restart_required: str | None = None
    failure: str | None = None


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
    patch = scheduling(now, running)
    restart = None
    for found in (sockets(now, _settled(instance)), memory(now, _settled(instance))):
        patch += found.patch
        restart = restart or found.restart_required
    return Update((*patch, *plugged(now, running)), restart)


def foreseen(vm: Manifest, before: Manifest, after: Manifest) -> bool:
    """Whether a running guest is likely to take the change of its spec without a restart, told from the VM alone.

    before, after: applied VMI specs. What the guest was started with and what the cluster allows is not known here, so
    that only virt-controller's answer is certain.
    """
    if _fixed(before) != _fixed(after):
        return False
    running = copy(before)
    cpu, memory_of = running["domain"].get("cpu") or {}, running["domain"].get("memory") or {}
    if "sockets" in cpu:
        cpu.setdefault("maxSockets", cpu["sockets"] * HOTPLUG_RATIO)
    if "guest" in memory_of:
        most = quantity.parse(memory_of["guest"]).value * HOTPLUG_RATIO
        memory_of.setdefault("maxGuest", str(most))
    status = {"conditions": (vm.get("status") or {}).get("conditions") or []}
    instance = {"spec": running, "status": {**status, "memory": {"guestCurrent": memory_of.get("guest")}}}
    return not any(found.restart_required for found in (sockets(after, instance), memory(after, instance)))


def scheduling(wanted: Manifest, running: Manifest) -> tuple[Manifest, ...]:
    """The JSON patch of where a running VMI may be. wanted, running: VMI specs."""
    return tuple(_set(field, wanted.get(field)) for field in _LIVE_FIELDS if wanted.get(field) != running.get(field))


def _set(field: str, value: Any) -> Manifest:
    if value is None:
        return {"op": "remove", "path": f"/spec/{field}"}
    return {"op": "add", "path": f"/spec/{field}", "value": value}


def sockets(wanted: Manifest, instance: Manifest) -> Update:
    """What it takes to give a running VMI the sockets of a VMI spec (``handleCPUChangeRequest``)."""
    cpu, current = wanted["domain"].get("cpu"), instance["spec"]["domain"].get("cpu")
    if cpu is None or current is None or cpu.get("sockets", 0) == current.get("sockets", 0):
        return Update()
    if _condition(instance, "HotVCPUChange", "True"):
        return Update(failure=_SOCKETS_UNDER_WAY)
    if cpu.get("sockets", 0) > current.get("maxSockets", 0):
        return Update(restart_required=_TOO_MANY_SOCKETS)
    if cpu.get("sockets", 0) < current.get("sockets", 0):
        return Update(restart_required=_FEWER_SOCKETS)
    if wanted.get("architecture") == "arm64":
        return Update(restart_required=_SOCKETS_ON_ARM)
    return Update((_set("domain/cpu/sockets", cpu["sockets"]),))


def memory(wanted: Manifest, instance: Manifest) -> Update:
    """Likewise for its memory (``handleMemoryHotplugRequest``)."""
    current = instance["spec"]["domain"].get("memory") or {}
    reported = (instance.get("status") or {}).get("memory") or {}
    text = (wanted["domain"].get("memory") or {}).get("guest")
    guest, present, most = (_nanos(entry) for entry in (text, current.get("guest"), current.get("maxGuest")))
    if guest is None or present is None or not reported.get("guestCurrent"):
        return Update()
    if _condition(instance, "HotMemoryChange", "False"):
        return Update(restart_required=_MEMORY_FAILED)
    if guest == present:
        return Update()
    if not _condition(instance, "LiveMigratable", "True"):
        return Update(restart_required=_NOT_MIGRATABLE)
    if most is None:
        return Update(restart_required=_NO_MEMORY_LIMIT)
    if _condition(instance, "HotMemoryChange", "True"):
        return Update(failure=_MEMORY_UNDER_WAY)
    refused = _memory_refused(wanted, current["maxGuest"])
    if refused is not None:
        return Update(restart_required=_MEMORY_REFUSED.format(reason=refused))
    at_boot = _nanos(reported.get("guestAtBoot"))
    if at_boot is not None and guest < at_boot:
        return Update(restart_required=_LESS_THAN_AT_BOOT)
    return Update((_set("domain/memory/guest", text),))


def _memory_refused(wanted: Manifest, most: str) -> str | None:
    """Why a guest with these fields cannot be given memory (``ValidateLiveUpdateMemory``)."""
    domain = wanted["domain"]
    cpu = domain.get("cpu") or {}
    if cpu.get("realtime") is not None:
        return "Memory hotplug is not compatible with realtime VMs"
    if (cpu.get("numa") or {}).get("guestMappingPassthrough") is not None:
        return "Memory hotplug is not compatible with guest mapping passthrough"
    if domain.get("launchSecurity") is not None:
        return "Memory hotplug is not compatible with encrypted VMs"
    guest, limit = quantity.parse(domain["memory"]["guest"]), quantity.parse(most)
    large = (domain["memory"].get("hugepages") or {}).get("pageSize") == "1Gi"
    block = _LARGE_MEMORY_BLOCK if large else _MEMORY_BLOCK
    if guest.nanos > limit.nanos:
        return "Guest memory is greater than the configured maxGuest memory"
    for name, size in (("Guest memory", guest), ("MaxGuest", limit)):
        if size.value % block:
            return f"{name} must be {quantity.Quantity.of(block, quantity.BINARY_SI).text} aligned"
    if wanted.get("architecture", "amd64") != "amd64":
        return "Memory hotplug is only available for x86_64 VMs"
    if guest.value < _LEAST_MEMORY:
        return "Memory hotplug is only available for VMs with at least 1Gi of guest memory"
    return None


def _settled(instance: Manifest) -> Manifest:
    """The VMI once it has what it is being given."""
    status = instance.get("status") or {}
    conditions = [
        entry
        for entry in status.get("conditions") or []
        if entry["type"] not in ("HotVCPUChange", "HotMemoryChange") or entry["status"] != "True"
    ]
    return {**instance, "status": {**status, "conditions": conditions}}


def _condition(instance: Manifest, name: str, state: str) -> bool:
    conditions = (instance.get("status") or {}).get("conditions") or []
    return any(entry["type"] == name and entry["status"] == state for entry in conditions)


def _nanos(text: Any) -> int | None:
    return quantity.parse(text).nanos if text else None


def plugged(now: Manifest, running: Manifest) -> Iterator[Manifest]:
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
