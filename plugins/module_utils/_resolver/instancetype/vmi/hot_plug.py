"""Updates of a running VMI from a changed VM: sockets, memory, scheduling (``virt-controller/watch/vm``)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...api import quantity
from .memory_plug import refused

Manifest = dict[str, Any]

_FEWER_SOCKETS: Final = "Reduction of CPU socket count requires a restart"
_TOO_MANY_SOCKETS: Final = "CPU sockets updated in template spec to a value higher than what's available"
_SOCKETS_ON_ARM: Final = "ARM doesn't support CPU hotplug"
_MEMORY: Final = "memory updated in template spec"
_MEMORY_FAILED: Final = f"{_MEMORY}. Memory-hotplug failed and is not available for this VM configuration"
_NOT_MIGRATABLE: Final = f"{_MEMORY}. Memory-hotplug is only available for migratable VMs"
_NO_MEMORY_LIMIT: Final = f"{_MEMORY}. Memory-hotplug is not available for this VM configuration"
_LESS_THAN_AT_BOOT: Final = f"{_MEMORY} to a value lower than what the VM started with"
_MEMORY_REFUSED: Final = "memory hotplug not supported, {reason}"
# Fields that KubeVirt changes in a running VMI, besides sockets, memory, volumes and interfaces.
LIVE_FIELDS: Final = ("nodeSelector", "affinity", "tolerations")


class Update(NamedTuple):
    """changes: the fields of the VMI's spec that a running guest gets from its VM, such as `domain.cpu.sockets`.
    restart_required: why a restart is needed.
    """

    changes: tuple[str, ...] = ()
    restart_required: str | None = None


def scheduling(wanted: Manifest, running: Manifest) -> tuple[str, ...]:
    """The fields of scheduling that a running VMI gets. wanted, running: VMI specs."""
    return tuple(field for field in LIVE_FIELDS if wanted.get(field) != running.get(field))


def sockets(wanted: Manifest, instance: Manifest) -> Update:
    """The update for the sockets of a running VMI (``handleCPUChangeRequest``). wanted: a VMI spec."""
    cpu, current = wanted["domain"].get("cpu"), instance["spec"]["domain"].get("cpu")
    if cpu is None or current is None or cpu.get("sockets", 0) == current.get("sockets", 0):
        return Update()
    if cpu.get("sockets", 0) > current.get("maxSockets", 0):
        return Update(restart_required=_TOO_MANY_SOCKETS)
    if cpu.get("sockets", 0) < current.get("sockets", 0):
        return Update(restart_required=_FEWER_SOCKETS)
    if wanted.get("architecture") == "arm64":
        return Update(restart_required=_SOCKETS_ON_ARM)
    return Update(("domain.cpu.sockets",))


def memory(wanted: Manifest, instance: Manifest) -> Update:
    """The update for the memory of a running VMI (``handleMemoryHotplugRequest``). wanted: a VMI spec.

    What is under way is taken as done.
    """
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
    reason = refused(wanted, current["maxGuest"])
    if reason is not None:
        return Update(restart_required=_MEMORY_REFUSED.format(reason=reason))
    at_boot = _nanos(reported.get("guestAtBoot"))
    if at_boot is not None and guest < at_boot:
        return Update(restart_required=_LESS_THAN_AT_BOOT)
    return Update(("domain.memory.guest",))


def _condition(instance: Manifest, name: str, state: str) -> bool:
    conditions = (instance.get("status") or {}).get("conditions") or []
    return any(entry["type"] == name and entry["status"] == state for entry in conditions)


def _nanos(text: Any) -> int | None:
    return quantity.parse(text).nanos if text else None
