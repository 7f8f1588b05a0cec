"""Updates of a running VMI from a changed VM: sockets, memory, scheduling (``virt-controller/watch/vm``)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ...api import quantity
from .memory_plug import refused

Manifest = dict[str, Any]

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
# The default of cpuAllocationRatio: vCPUs for each CPU of a node.
ALLOCATION_RATIO: Final = 10
_NANOS_PER_MILLI: Final = 10**6
# Fields that KubeVirt changes in a running VMI, besides sockets, memory, volumes and interfaces.
LIVE_FIELDS: Final = ("nodeSelector", "affinity", "tolerations")


class Update(NamedTuple):
    """patch: a JSON patch of the VMI, empty for no change. restart_required: why a restart is needed.
    failure: why virt-controller cannot decide yet and retries.
    """

    patch: tuple[Manifest, ...] = ()
    restart_required: str | None = None
    failure: str | None = None


def scheduling(wanted: Manifest, running: Manifest) -> tuple[Manifest, ...]:
    """The JSON patch for the scheduling of a running VMI. wanted, running: VMI specs."""
    return tuple(put(field, wanted.get(field)) for field in LIVE_FIELDS if wanted.get(field) != running.get(field))


def put(field: str, value: Any) -> Manifest:
    """The step of a JSON patch that sets a field of a VMI's spec, or removes it (None)."""
    if value is None:
        return {"op": "remove", "path": f"/spec/{field}"}
    return {"op": "add", "path": f"/spec/{field}", "value": value}


def sockets(wanted: Manifest, instance: Manifest, allocation_ratio: int = ALLOCATION_RATIO) -> Update:
    """The update for the sockets of a running VMI (``handleCPUChangeRequest``). wanted: a VMI spec.

    allocation_ratio: the cluster's cpuAllocationRatio.
    """
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
    more = (_vcpus(cpu) - _vcpus(current)) * (1000 // allocation_ratio) * _NANOS_PER_MILLI
    return Update((put("domain/cpu/sockets", cpu["sockets"]), *_pod_cpu(wanted, instance["spec"], more)))


def _vcpus(cpu: Manifest) -> int:
    """vCPUs as KubeVirt counts them (``hardware.GetNumberOfVCPUs``): a missing number counts as 1."""
    return math.prod(cpu.get(part) or 1 for part in ("sockets", "cores", "threads"))


def _pod_cpu(wanted: Manifest, running: Manifest, nanos: int) -> Iterator[Manifest]:
    """Increases the pod's CPU if the VM sets it."""
    for kind in ("requests", "limits"):
        if _resource(wanted, kind, "cpu") is not None:
            present = _resource(running, kind, "cpu") or "0"
            yield put(f"domain/resources/{kind}/cpu", quantity.plus(present, nanos))


def _pod_memory(wanted: Manifest, running: Manifest, guest: str, current: str) -> Iterator[Manifest]:
    """Increases the pod's memory: the VMI's request to at least the guest's memory, the VM's limit by the
    same amount.
    """
    more = quantity.parse(guest).nanos - quantity.parse(current).nanos
    request = _resource(running, "requests", "memory")
    if request is not None:
        grown = quantity.plus(request, more)
        if quantity.parse(grown).nanos < quantity.parse(guest).nanos:
            grown, more = guest, 0
        yield put("domain/resources/requests/memory", grown)
    if _resource(wanted, "limits", "memory") is not None:
        present = _resource(running, "limits", "memory") or "0Ki"
        yield put("domain/resources/limits/memory", quantity.plus(present, more))


def _resource(spec: Manifest, kind: str, name: str) -> str | None:
    found: str | None = ((spec["domain"].get("resources") or {}).get(kind) or {}).get(name)
    return found


def memory(wanted: Manifest, instance: Manifest) -> Update:
    """The update for the memory of a running VMI (``handleMemoryHotplugRequest``). wanted: a VMI spec."""
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
    reason = refused(wanted, current["maxGuest"])
    if reason is not None:
        return Update(restart_required=_MEMORY_REFUSED.format(reason=reason))
    at_boot = _nanos(reported.get("guestAtBoot"))
    if at_boot is not None and guest < at_boot:
        return Update(restart_required=_LESS_THAN_AT_BOOT)
    more = _pod_memory(wanted, instance["spec"], wanted["domain"]["memory"]["guest"], reported["guestCurrent"])
    return Update((put("domain/memory/guest", text), *more))


def _condition(instance: Manifest, name: str, state: str) -> bool:
    conditions = (instance.get("status") or {}).get("conditions") or []
    return any(entry["type"] == name and entry["status"] == state for entry in conditions)


def _nanos(text: Any) -> int | None:
    return quantity.parse(text).nanos if text else None
