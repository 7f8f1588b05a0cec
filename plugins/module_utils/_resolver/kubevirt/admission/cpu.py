"""CPU and memory: requests and limits, topology, features, dedicated CPUs, huge pages (vmi-create-admitter.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ...api import behaviour, quantity
from ...api.errors import Panic, QuantityError
from ...api.name_rules import quoted
from ...api.quantity import Quantity
from ..cluster import KubeVirt
from ..vm.vmi import vcpus
from .rows import Check, Group, Place, Row, is_set, needs, one_of
from .rule import ARM64, INVALID, Cause, Spec, amount

_REQUESTS: Final = "domain.resources.requests"
_LIMITS: Final = "domain.resources.limits"
_DEDICATED: Final = "domain.cpu.dedicatedCpuPlacement"
_PASSTHROUGH: Final = "domain.cpu.numa.guestMappingPassthrough"

_MIN_REQUEST: Final = 10**15  # nanobytes
_MAX_THREADS: Final = 2

Size = Callable[[Quantity], int]
"""An amount as KubeVirt compares it."""


def _whole(value: Quantity) -> int:
    return value.value


def _thousandths(value: Quantity) -> int:
    return value.milli


def _not_negative(size: Size) -> Check:
    return lambda text, _place: f"must not be negative, as {text} is" if size(quantity.parse(text)) < 0 else ""


def _not_tiny(text: str, _place: Place) -> str:
    tiny = 0 < quantity.parse(text).nanos < _MIN_REQUEST
    return f"must be at least 1M, not {text}; give the unit" if tiny else ""


def _limited(limit_path: str, size: Size) -> Check:
    """The amount is not above another one."""

    def check(text: str, place: Place) -> str:
        limit = quantity.parse(place.get(limit_path) or "0")
        above = 0 < size(limit) < size(quantity.parse(text))
        return f"{text} is more than its limit of {limit.text}; raise the limit" if above else ""

    return check


def _sockets(sockets: int, place: Place) -> str:
    """validateCPUHotplug."""
    maximum = place.get("domain.cpu.maxSockets") or 0
    return f"{sockets} is more than maxSockets, {maximum}; lower it" if 0 < maximum < sockets else ""


def _within_limit(guest: str, place: Place) -> str:
    """validateGuestMemoryLimit, which is skipped if changes reach running guests."""
    limit = amount(place.spec["domain"]["resources"], "limits", "memory")
    if place.kubevirt.live_updates or limit.value == 0 or limit.value >= quantity.parse(guest).value:
        return ""
    return f"{guest} is more than the limit of memory, {limit.text}; raise the limit"


def _memory_is_provided(domain: Spec, _place: Place) -> str:
    """validateMemoryIsProvided."""
    memory, resources = domain.get("memory") or {}, domain["resources"]
    provided = (
        any(amount(resources, kind, "memory").nanos for kind in ("limits", "requests"))
        or "hugepages" in memory
        or quantity.parse(memory.get("guest", "0")).nanos
    )
    return "" if provided else "lacks an amount of memory, which dedicated CPUs need; set memory.guest"


def _integer(text: str, _place: Place) -> str:
    """validateCPURequestIsInteger, validateCPULimitIsInteger."""
    cpu = quantity.parse(text)
    broken = cpu.value > 0 and cpu.value * 1000 != cpu.milli
    return f"must be a whole number for dedicated CPUs, not {text}" if broken else ""


def _fixed(text: str, place: Place) -> str:
    """validateMemoryRequestsAndLimits."""
    requested, limit = quantity.parse(text).value, amount(place.spec["domain"]["resources"], "limits", "memory")
    differs = requested > 0 and limit.value > 0 and requested != limit.value
    return f"must equal the limit of {limit.text} for dedicated CPUs, not be {text}" if differs else ""


def _number_of_cpus(_dedicated: bool, place: Place) -> str:
    """validateRequestLimitOrCoresProvided..., validateRequestEqualsLimit..., validateRequestOrLimitWithCoresProvided...

    (...OnDedicatedCPUPlacement)
    """
    domain = place.spec["domain"]
    requested, limit = (amount(domain["resources"], kind, "cpu").value for kind in ("requests", "limits"))
    if requested > 0 and limit > 0 and requested != limit:
        return f"needs as many CPUs requested ({requested}) as the limit ({limit}); remove one of them"
    count = vcpus(domain["cpu"])
    differs = (requested > 0 or limit > 0) and count > 0 and count not in (requested, limit)
    return f"needs as many CPUs requested as the guest has ({count}); remove the request and limit" if differs else ""


def _threads_of_arm(threads: int, place: Place) -> str:
    """validateThreadCountOnArchitecture."""
    is_arm = (place.spec.get("architecture") or place.kubevirt.architecture) == ARM64
    return f"must be 1 on arm64 with dedicated CPUs, not {threads}" if threads > 1 and is_arm else ""


def _threads(threads: int, _place: Place) -> str:
    """validateThreadCountOnDedicatedCPUPlacement."""
    return f"must be 1 or 2 with dedicated CPUs, not {threads}" if threads > _MAX_THREADS else ""


def _memory_in_huge_pages(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateHugepagesMemoryRequests. Raises Panic for pages of size 0, by which KubeVirt divides."""
    domain = spec["domain"]
    memory = domain.get("memory") or {}
    if "hugepages" not in memory:
        return
    page = memory["hugepages"].get("pageSize", "")
    try:
        size = quantity.parse(page).value
    except QuantityError:
        field = "memory.hugepages.pageSize" if kubevirt.release.has(behaviour.PAGE_SIZE_FIELD) else "hugepages.size"
        yield Cause(INVALID, f"pageSize must be an amount such as 2Mi, not {quoted(page)}", f"{path}.domain.{field}")
        return
    requested = amount(domain["resources"], "requests", "memory")
    memory_size = (
        requested.value
        or quantity.parse(memory.get("guest", "0")).value
        or amount(domain["resources"], "limits", "memory").value
    )
    if size == 0 and memory_size >= 0:
        raise Panic("integer divide by zero")
    if memory_size and (memory_size < size or memory_size % size):
        message = f"memory must be a multiple of the page size, {page}"
        yield Cause(INVALID, message, f"{path}.{_REQUESTS}.memory")


MEMORY: Final = Group(
    "",
    # validateMemoryRequestsNegativeOrNull, validateMemoryLimitsNegativeOrNull
    Row(f"{_REQUESTS}.memory", _not_negative(_whole)),
    Row(f"{_REQUESTS}.memory", _not_tiny),
    Row(f"{_LIMITS}.memory", _not_negative(_whole)),
    Row(f"{_REQUESTS}.memory", _limited(f"{_LIMITS}.memory", _whole)),
    _memory_in_huge_pages,
    Row("domain.memory.guest", _within_limit),
)
CPU: Final = Group(
    "",
    # validateCPURequestNotNegative, validateCPULimitNotNegative, validateCpuRequestDoesNotExceedLimit
    Row(f"{_REQUESTS}.cpu", _not_negative(_thousandths)),
    Row(f"{_LIMITS}.cpu", _not_negative(_thousandths)),
    Row(f"{_REQUESTS}.cpu", _limited(f"{_LIMITS}.cpu", _thousandths)),
    Group(  # validateCpuPinning
        "",
        Row("domain", _memory_is_provided, at="{spec}.domain.resources.limits.memory"),
        Row(f"{_REQUESTS}.cpu", _integer),
        Row(f"{_LIMITS}.cpu", _integer),
        Row(f"{_REQUESTS}.memory", _fixed),
        Row(_DEDICATED, _number_of_cpus),
        Row("domain.cpu.threads", _threads_of_arm, at="{spec}.architecture"),
        Row("domain.cpu.threads", _threads, at=f"{{spec}}.{_DEDICATED}"),
        when=lambda place: is_set(place.get(_DEDICATED)),
    ),
    # validateNUMA, validateCPUIsolatorThread
    Row(_PASSTHROUGH, needs(_DEDICATED)),
    Row(_PASSTHROUGH, needs("domain.memory.hugepages")),
    Row("domain.cpu.isolateEmulatorThread", needs(_DEDICATED)),
    # validateCPUFeaturePolicies
    Group("domain.cpu.features[]", Row("policy", one_of("", "force", "require", "optional", "disable", "forbid"))),
    Row("domain.cpu.sockets", _sockets),
)
SOCKETS: Final = Group("", Row("domain.cpu.sockets", _sockets))
"""The same rule of validateLiveUpdateFeatures."""
REALTIME: Final = Group(
    "",
    Row("domain.cpu.realtime", needs(_DEDICATED), at=f"{{spec}}.{_DEDICATED}"),
    Row("domain.cpu.realtime", needs(_PASSTHROUGH), at=f"{{spec}}.{_PASSTHROUGH}"),
)
