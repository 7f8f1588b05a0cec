"""Sockets and memory of a running VMI: their maximums, and their updates from a changed VM. Scheduling fields are
updated here, too (``setupHotplug`` of ``pkg/defaults``, ``virt-controller/watch/vm``).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from ...api import quantity
from ...api.errors import KubeVirtError
from ...api.manifest import Manifest, has_condition
from ...api.name_rules import quoted

Spec = dict[str, Any]

_BLOCK: Final = 2 * 2**20  # bytes
_LARGE_BLOCK: Final = 2**30  # with huge pages of that size
_MIN_MEMORY: Final = 2**30


def check_memory_hotplug(desired: Manifest, maximum: str) -> None:
    """Raises KubeVirtError if memory cannot be hotplugged into a guest (``ValidateLiveUpdateMemory``).

    desired: a VMI spec with memory. maximum: a quantity.
    """
    domain = desired["domain"]
    cpu = domain.get("cpu") or {}
    if cpu.get("realtime") is not None:
        raise KubeVirtError("Memory hotplug is not compatible with realtime VMs")
    if (cpu.get("numa") or {}).get("guestMappingPassthrough") is not None:
        raise KubeVirtError("Memory hotplug is not compatible with guest mapping passthrough")
    if domain.get("launchSecurity") is not None:
        raise KubeVirtError("Memory hotplug is not compatible with encrypted VMs")
    if domain["memory"].get("guest") is None:
        raise KubeVirtError("Guest memory must be configured when memory hotplug is enabled")
    guest, limit = quantity.parse(domain["memory"]["guest"]), quantity.parse(maximum)
    large = (domain["memory"].get("hugepages") or {}).get("pageSize") == "1Gi"
    block = _LARGE_BLOCK if large else _BLOCK
    if guest.nanos > limit.nanos:
        raise KubeVirtError("Guest memory is greater than the configured maxGuest memory")
    for name, size in (("Guest memory", guest), ("MaxGuest", limit)):
        if size.value % block:
            alignment = quantity.Quantity.from_integer(block, quantity.BINARY_SI).text
            raise KubeVirtError(f"{name} must be {alignment} aligned")
    if desired.get("architecture", "amd64") != "amd64":
        raise KubeVirtError("Memory hotplug is only available for x86_64 VMs")
    if guest.value < _MIN_MEMORY:
        raise KubeVirtError("Memory hotplug is only available for VMs with at least 1Gi of guest memory")


# The default maximum as a multiple of the start value (maxHotplugRatio).
RATIO: Final = 4
_MAX_VCPUS: Final = 512


class LiveUpdateLimits(NamedTuple):
    """The cluster's liveUpdateConfiguration.

    sockets: the maximum of every VMI, 0 for none. memory: the maximum of every VMI, a quantity.
    ratio: otherwise the maximum as a multiple of the start value.
    """

    sockets: int = 0
    memory: str | None = None
    ratio: int = RATIO


def live_update_limits(configuration: Mapping[str, Any]) -> LiveUpdateLimits:
    """Reads `spec.configuration` of a KubeVirt object. Raises ValueError for a number that is none."""
    config = configuration.get("liveUpdateConfiguration") or {}
    sockets, ratio = config.get("maxCpuSockets") or 0, config.get("maxHotplugRatio", RATIO)
    for name, number in (("maxCpuSockets", sockets), ("maxHotplugRatio", ratio)):
        # Python multiplies texts and lists, too, until its memory is full.
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"liveUpdateConfiguration.{name}: expected a whole number, found {quoted(number)}")
    memory = config.get("maxGuest")
    return LiveUpdateLimits(sockets, None if memory is None else quantity.canonical(str(memory)), ratio)


def set_maximums(spec: Spec, allowed: LiveUpdateLimits) -> None:
    """Sets the maximums in the canonical spec of a VMI, after the defaults of CPU and memory."""
    _sockets(spec["domain"]["cpu"], allowed)
    _memory(spec, allowed)


def _sockets(cpu: Spec, allowed: LiveUpdateLimits) -> None:
    sockets = cpu.get("sockets", 0)
    if cpu.get("maxSockets"):
        return
    maximum = max(allowed.sockets, sockets) if allowed.sockets else 0
    if not maximum:
        maximum = sockets * allowed.ratio
        in_socket = cpu.get("cores", 0) * cpu.get("threads", 0)
        if maximum * in_socket > _MAX_VCPUS:
            maximum = max(_MAX_VCPUS // in_socket, sockets)
    if maximum:
        cpu["maxSockets"] = maximum


def _memory(spec: Spec, allowed: LiveUpdateLimits) -> None:
    memory = spec["domain"]["memory"]
    guest = memory.get("guest")
    if guest is None or "maxGuest" in memory:
        return
    maximum = allowed.memory
    if maximum is None:
        maximum = quantity.Quantity.from_integer(quantity.parse(guest).value * allowed.ratio, quantity.BINARY_SI).text
    with suppress(KubeVirtError):
        check_memory_hotplug(spec, maximum)
        memory["maxGuest"] = maximum


_FEWER_SOCKETS: Final = "Reduction of CPU socket count requires a restart"
_TOO_MANY_SOCKETS: Final = "CPU sockets updated in template spec to a value higher than what's available"
_SOCKETS_UNDER_WAY: Final = "another CPU hotplug is in progress"
_SOCKETS_ON_ARM: Final = "ARM doesn't support CPU hotplug"
_MEMORY: Final = "memory updated in template spec"
_MEMORY_FAILED: Final = f"{_MEMORY}. Memory-hotplug failed and is not available for this VM configuration"
_NOT_MIGRATABLE: Final = f"{_MEMORY}. Memory-hotplug is only available for migratable VMs"
_NO_MEMORY_LIMIT: Final = f"{_MEMORY}. Memory-hotplug is not available for this VM configuration"
_LESS_THAN_AT_BOOT: Final = f"{_MEMORY} to a value lower than what the VM started with"
_MEMORY_REFUSED: Final = "memory hotplug not supported, {reason}"
# Fields that KubeVirt changes in a running VMI, besides sockets, memory, volumes and interfaces.
LIVE_FIELDS: Final = ("nodeSelector", "affinity", "tolerations")


class LiveUpdate(NamedTuple):
    """The reaction of virt-controller to a VM that differs from its running VMI.

    changes: the fields of the VMI's spec that it takes from the VM, such as `domain.cpu.sockets`.
    restart_required: the reason for a restart. without_condition: virt-controller does not ask for it.
    """

    changes: tuple[str, ...] = ()
    restart_required: str | None = None
    without_condition: bool = False


def scheduling_changes(desired: Manifest, running: Manifest) -> tuple[str, ...]:
    """The fields of scheduling that a running VMI gets. desired, running: VMI specs."""
    return tuple(field for field in LIVE_FIELDS if desired.get(field) != running.get(field))


def sockets_update(desired: Manifest, vmi: Manifest) -> LiveUpdate:
    """The update for the sockets of a running VMI (``handleCPUChangeRequest``). desired: a VMI spec.

    While a hot-plug is under way, KubeVirt neither plugs more nor asks for a restart. A hot-plug ends with a migration.
    """
    cpu, current = desired["domain"].get("cpu"), vmi["spec"]["domain"].get("cpu")
    if cpu is None or current is None or cpu.get("sockets", 0) == current.get("sockets", 0):
        return LiveUpdate()
    under_way = has_condition(vmi, "HotVCPUChange")
    if cpu.get("sockets", 0) > current.get("maxSockets", 0):
        return LiveUpdate(restart_required=_TOO_MANY_SOCKETS, without_condition=under_way)
    if cpu.get("sockets", 0) < current.get("sockets", 0):
        return LiveUpdate(restart_required=_FEWER_SOCKETS, without_condition=under_way)
    if desired.get("architecture") == "arm64":
        return LiveUpdate(restart_required=_SOCKETS_ON_ARM, without_condition=under_way)
    if under_way and not has_condition(vmi, "LiveMigratable"):
        return LiveUpdate(restart_required=_SOCKETS_UNDER_WAY, without_condition=True)
    return LiveUpdate(("domain.cpu.sockets",))


def memory_update(desired: Manifest, vmi: Manifest) -> LiveUpdate:
    """The update for the memory of a running VMI (``handleMemoryHotplugRequest``). desired: a VMI spec.

    An update under way counts as done.
    """
    current = vmi["spec"]["domain"].get("memory") or {}
    reported = (vmi.get("status") or {}).get("memory") or {}
    text = (desired["domain"].get("memory") or {}).get("guest")
    guest, present, maximum = (_nanos(entry) for entry in (text, current.get("guest"), current.get("maxGuest")))
    if guest is None or present is None or not reported.get("guestCurrent"):
        return LiveUpdate()
    if has_condition(vmi, "HotMemoryChange", "False"):
        return LiveUpdate(restart_required=_MEMORY_FAILED)
    if guest == present:
        return LiveUpdate()
    if not has_condition(vmi, "LiveMigratable"):
        return LiveUpdate(restart_required=_NOT_MIGRATABLE)
    if maximum is None:
        return LiveUpdate(restart_required=_NO_MEMORY_LIMIT)
    try:
        check_memory_hotplug(desired, current["maxGuest"])
    except KubeVirtError as error:
        return LiveUpdate(restart_required=_MEMORY_REFUSED.format(reason=error.message))
    at_boot = _nanos(reported.get("guestAtBoot"))
    if at_boot is not None and guest < at_boot:
        return LiveUpdate(restart_required=_LESS_THAN_AT_BOOT)
    return LiveUpdate(("domain.memory.guest",))


def _nanos(text: Any) -> int | None:
    return quantity.parse(text).nanos if text else None
