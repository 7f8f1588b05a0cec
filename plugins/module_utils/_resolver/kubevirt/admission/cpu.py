"""CPU and memory: requests and limits, topology, features, dedicated CPUs, huge pages (vmi-create-admitter.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...api import quantity
from ...api.errors import Panic, QuantityError
from ..config.cluster import KubeVirt
from ..vmi.vmi import vcpus
from . import since
from .rule import ARM64, INVALID, NOT_SUPPORTED, REQUIRED, Cause, Spec, amount, gated, items, not_enabled

_FEATURE_POLICIES: Final = ("", "force", "require", "optional", "disable", "forbid")

reserved_memory_overhead: Final = gated(  # validateReservedOverheadMemlock
    "ReservedOverheadMemlock", "domain.memory.reservedOverhead", not_enabled("Reserved overhead memlock")
)


def amounts(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateCPURequestNotNegative, validateCPULimitNotNegative, validateCpuRequestDoesNotExceedLimit."""
    fields = [f"{path}.domain.resources.{kind}.cpu" for kind in ("requests", "limits")]
    requested, limit = (amount(spec["domain"]["resources"], kind, "cpu") for kind in ("requests", "limits"))
    for field, cpu in zip(fields, (requested, limit)):
        if cpu.milli < 0:
            yield Cause(INVALID, f"{field} '{cpu.text}': must be greater than or equal to 0.", field)
    if 0 < limit.milli < requested.milli:
        message = f"{fields[0]} '{requested.text}' is greater than {fields[1]} '{limit.text}'"
        yield Cause(INVALID, message, fields[0])


def numa(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateNUMA; its gate is always open by now."""
    domain = spec["domain"]
    cpu = domain.get("cpu") or {}
    if "guestMappingPassthrough" not in (cpu.get("numa") or {}):
        return
    field = f"{path}.domain.cpu.numa.guestMappingPassthrough"
    if not cpu.get("dedicatedCpuPlacement"):
        needed = f"{path}.domain.cpu.dedicatedCpuPlacement must be set to true"
        yield Cause(INVALID, f"{needed} when NUMA topology strategy is set in {field}", field)
    if "hugepages" not in (domain.get("memory") or {}):
        needed = f"{path}.domain.memory.hugepages must be requested"
        yield Cause(INVALID, f"{needed} when NUMA topology strategy is set in {field}", field)


def isolated_emulator_thread(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateCPUIsolatorThread."""
    cpu = spec["domain"].get("cpu") or {}
    if cpu.get("isolateEmulatorThread") and not cpu.get("dedicatedCpuPlacement"):
        message = "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement"
        yield Cause(INVALID, message, f"{path}.domain.cpu.isolateEmulatorThread")


def features(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateCPUFeaturePolicies."""
    for feature, field in items(spec, path, "domain.cpu.features"):
        policy = feature.get("policy", "")
        if policy not in _FEATURE_POLICIES:
            message = f"CPU feature {feature['name']} uses policy {policy} that is not supported."
            yield Cause(NOT_SUPPORTED, message, f"{field}.policy")


def sockets(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateCPUHotplug; the same of validateLiveUpdateFeatures."""
    cpu = spec["domain"].get("cpu") or {}
    maximum = cpu.get("maxSockets", 0)
    if maximum and cpu.get("sockets", 0) > maximum:
        message = "Number of sockets in CPU topology is greater than the maximum sockets allowed"
        yield Cause(INVALID, message, f"{path}.domain.cpu.sockets")


def realtime(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateRealtime."""
    cpu = spec["domain"].get("cpu") or {}
    if "realtime" not in cpu:
        return
    used = f"{path}.domain.cpu.realtime is used"
    if not cpu.get("dedicatedCpuPlacement"):
        field = f"{path}.domain.cpu.dedicatedCpuPlacement"
        yield Cause(REQUIRED, f"{field} must be set to true when {used}", field)
    if "guestMappingPassthrough" not in (cpu.get("numa") or {}):
        field = f"{path}.domain.cpu.numa.guestMappingPassthrough"
        yield Cause(REQUIRED, f"{field} must be defined when {used}", field)


_MAX_THREADS: Final = 2


def dedicated(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateCpuPinning."""
    domain = spec["domain"]
    if not (domain.get("cpu") or {}).get("dedicatedCpuPlacement"):
        return
    yield from _memory_is_provided(domain, path, kubevirt.release.has(since.GUEST_MEMORY_NAMED))
    yield from _integer_cpus(domain, path)
    yield from _memory_is_fixed(domain, path)
    yield from _number_of_cpus(domain, path)
    yield from _threads(spec, path, kubevirt)


def _memory_is_provided(domain: Spec, path: str, guest: bool) -> Iterator[Cause]:
    """validateMemoryIsProvided. guest: the message names the guest's memory, too."""
    memory, resources = domain.get("memory") or {}, domain["resources"]
    if any(amount(resources, kind, "memory").nanos for kind in ("limits", "requests")):
        return
    if "hugepages" not in memory and quantity.parse(memory.get("guest", "0")).nanos == 0:
        field = f"{path}.domain.resources.limits.memory"
        ways = [f"{path}.domain.resources.requests.memory", field]
        ways += [f"{path}.domain.memory.hugepages", f"{path}.domain.memory.guest"] if guest else []
        yield Cause(INVALID, f"{', '.join(ways[:-1])} or {ways[-1]} should be provided", field)


def _integer_cpus(domain: Spec, path: str) -> Iterator[Cause]:
    """validateCPURequestIsInteger, validateCPULimitIsInteger."""
    for kind in ("requests", "limits"):
        cpu = amount(domain["resources"], kind, "cpu")
        if cpu.value > 0 and cpu.value * 1000 != cpu.milli:
            message = f"provided resources CPU {kind} must be an interger"
            yield Cause(INVALID, message, f"{path}.domain.resources.{kind}.cpu")


def _memory_is_fixed(domain: Spec, path: str) -> Iterator[Cause]:
    """validateMemoryRequestsAndLimits."""
    requested, limit = (amount(domain["resources"], kind, "memory").value for kind in ("requests", "limits"))
    if requested > 0 and limit > 0 and requested != limit:
        field = f"{path}.domain.resources.requests.memory"
        yield Cause(INVALID, f"{field} must be equal to {path}.domain.resources.limits.memory", field)


def _number_of_cpus(domain: Spec, path: str) -> Iterator[Cause]:
    """validateRequestLimitOrCoresProvided..., validateRequestEqualsLimit..., validateRequestOrLimitWithCoresProvided...

    (...OnDedicatedCPUPlacement)
    """
    requested, limit = (amount(domain["resources"], kind, "cpu").value for kind in ("requests", "limits"))
    vcpu_count = vcpus(domain["cpu"])
    requests, limits = (f"{path}.domain.resources.{kind}.cpu" for kind in ("requests", "limits"))
    cores, field = f"{path}.domain.cpu.cores", f"{path}.domain.cpu.dedicatedCpuPlacement"
    when = "when DedicatedCPUPlacement is true "
    if requested > 0 and limit > 0 and requested != limit:
        yield Cause(INVALID, f"{requests} or {limits} must be equal {when}", field)
    if (requested > 0 or limit > 0) and vcpu_count > 0 and vcpu_count not in (requested, limit):
        message = f"{requests} or {limits} must not be provided at the same time with {cores} {when}"
        yield Cause(INVALID, message, field)


def _threads(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateThreadCountOnArchitecture, validateThreadCountOnDedicatedCPUPlacement."""
    threads, field = spec["domain"]["cpu"].get("threads", 0), f"{path}.domain.cpu.threads"
    if threads > 1 and (spec.get("architecture") or kubevirt.architecture) == ARM64:
        architecture = f"{path}.architecture"
        message = f"threads must not be greater than 1 at {field} (got {threads}) when {architecture} is arm64"
        yield Cause(INVALID, message, architecture)
    if threads > _MAX_THREADS:
        limit = f"Not more than two threads must be provided at {field} (got {threads})"
        message = f"{limit} when DedicatedCPUPlacement is true"
        yield Cause(INVALID, message, f"{path}.domain.cpu.dedicatedCpuPlacement")


_MIN_REQUEST: Final = 10**6  # bytes
_NOT_A_QUANTITY: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def memory_amounts(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateMemoryRequestsNegativeOrNull, validateMemoryLimitsNegativeOrNull."""
    request_field, limit_field = (f"{path}.domain.resources.{kind}.memory" for kind in ("requests", "limits"))
    requested, limit = (amount(spec["domain"]["resources"], kind, "memory") for kind in ("requests", "limits"))
    if requested.value < 0:
        yield Cause(INVALID, f"{request_field} '{requested.text}': must be greater than or equal to 0.", request_field)
    elif 0 < requested.nanos < _MIN_REQUEST * 10**9:
        yield Cause(INVALID, f"{request_field} '{requested.text}': must be greater than or equal to 1M.", request_field)
    if limit.value < 0:
        yield Cause(INVALID, f"{limit_field} '{limit.text}': must be greater than or equal to 0.", limit_field)
    if 0 < limit.value < requested.value:
        message = f"{request_field} '{requested.text}' is greater than {limit_field} '{limit.text}'"
        yield Cause(INVALID, message, request_field)


def memory_in_huge_pages(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateHugepagesMemoryRequests. Raises Panic for pages of size 0, by which KubeVirt divides."""
    domain = spec["domain"]
    memory = domain.get("memory") or {}
    if "hugepages" not in memory:
        return
    page = memory["hugepages"].get("pageSize", "")
    field = f"{path}.domain.{page_size_field(kubevirt)}"
    try:
        size = quantity.parse(page).value
    except QuantityError:
        yield Cause(INVALID, f"{field} '{page}': {_NOT_A_QUANTITY}", field)
        return
    requested = amount(domain["resources"], "requests", "memory")
    memory_size = (
        requested.value
        or quantity.parse(memory.get("guest", "0")).value
        or amount(domain["resources"], "limits", "memory").value
    )
    requests_field = f"{path}.domain.resources.requests.memory"
    if memory_size != 0 and memory_size < size:
        message = f"{requests_field} '{requested.text}' must be equal to or larger than page size {field} '{page}'"
        yield Cause(INVALID, message, requests_field)
    elif size == 0:
        raise Panic("integer divide by zero")
    elif memory_size % size:
        message = f"{requests_field} '{requested.text}' is not a multiple of the page size {field} '{page}'"
        yield Cause(INVALID, message, requests_field)


def page_size_field(kubevirt: KubeVirt) -> str:
    """The field of the size of huge pages in a domain, in virt-api's words."""
    return "memory.hugepages.pageSize" if kubevirt.release.has(since.PAGE_SIZE_FIELD) else "hugepages.size"


def memory_within_limit(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateGuestMemoryLimit, which is skipped if changes reach running guests."""
    guest = (spec["domain"].get("memory") or {}).get("guest")
    limit = amount(spec["domain"]["resources"], "limits", "memory")
    if kubevirt.live_updates or guest is None or limit.value == 0:
        return
    if limit.value < quantity.parse(guest).value:
        field, limit_field = f"{path}.domain.memory.guest", f"{path}.domain.resources.limits.memory"
        message = f"{field} '{guest}' must be equal to or less than the memory limit {limit_field} '{limit.text}'"
        yield Cause(INVALID, message, field)
