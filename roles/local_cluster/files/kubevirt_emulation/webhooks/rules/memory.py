"""Memory: requests, limits, huge pages, what can be plugged while the guest runs.

KubeVirt: validateMemory..., validateHugepagesMemoryRequests, validateGuestMemoryLimit (vmi-create-admitter.go),
ValidateLiveUpdateMemory (pkg/liveupdate/memory).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from _resolver.api import quantity
from _resolver.api.errors import Crash
from kubevirt_emulation.webhooks.rules.amounts import amount
from kubevirt_emulation.webhooks.rules.cause import INVALID, REQUIRED, Cause, Spec
from kubevirt_emulation.webhooks.rules.cluster import AMD64, Cluster

_LEAST: Final = 10**6  # bytes
_LEAST_FOR_HOTPLUG: Final = 2**30  # bytes
_BLOCK: Final = 2 * 2**20  # bytes
_BLOCK_OF_1GI_PAGES: Final = 2**30  # bytes
_NOT_A_QUANTITY: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def requests(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateMemoryRequestsNegativeOrNull."""
    field = f"{path}.domain.resources.requests.memory"
    requested = amount(spec["domain"]["resources"], "requests", "memory")
    if requested.value < 0:
        yield Cause(INVALID, f"{field} '{requested.text}': must be greater than or equal to 0.", field)
    elif 0 < requested.nanos < _LEAST * 10**9:
        yield Cause(INVALID, f"{field} '{requested.text}': must be greater than or equal to 1M.", field)


def limits(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateMemoryLimitsNegativeOrNull."""
    field = f"{path}.domain.resources.limits.memory"
    resources = spec["domain"]["resources"]
    limit, requested = amount(resources, "limits", "memory"), amount(resources, "requests", "memory")
    if limit.value < 0:
        yield Cause(INVALID, f"{field} '{limit.text}': must be greater than or equal to 0.", field)
    if 0 < limit.value < requested.value:
        below = f"{path}.domain.resources.requests.memory"
        yield Cause(INVALID, f"{below} '{requested.text}' is greater than {field} '{limit.text}'", below)


def huge_pages(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateHugepagesMemoryRequests. Raises Crash for pages of size 0, by which KubeVirt divides."""
    domain = spec["domain"]
    memory = domain.get("memory") or {}
    if "hugepages" not in memory:
        return
    page = memory["hugepages"].get("pageSize", "")
    field = f"{path}.domain.memory.hugepages.pageSize"
    try:
        size = quantity.parse(page).value
    except quantity.QuantityError:
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
        raise Crash("integer divide by zero")
    elif memory_size % size:
        message = f"{requests_field} '{requested.text}' is not a multiple of the page size {field} '{page}'"
        yield Cause(INVALID, message, requests_field)


def guest_within_limit(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateGuestMemoryLimit, which does not look where changes reach running guests."""
    guest = (spec["domain"].get("memory") or {}).get("guest")
    limit = amount(spec["domain"]["resources"], "limits", "memory")
    if cluster.live_updates or guest is None or limit.value == 0:
        return
    if limit.value < quantity.parse(guest).value:
        field, most = f"{path}.domain.memory.guest", f"{path}.domain.resources.limits.memory"
        message = f"{field} '{guest}' must be equal to or less than the memory limit {most} '{limit.text}'"
        yield Cause(INVALID, message, field)


def reserved_overhead(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateReservedOverheadMemlock."""
    if "reservedOverhead" in (spec["domain"].get("memory") or {}) and not cluster.has_gate("ReservedOverheadMemlock"):
        message = "Reserved overhead memlock feature gate is not enabled in kubevirt-config"
        yield Cause(INVALID, message, f"{path}.domain.memory.reservedOverhead")


def plugged_memory(spec: Spec, most: str | None) -> str | None:
    """ValidateLiveUpdateMemory: why a running guest cannot be given memory up to a quantity, None if it can."""
    domain = spec["domain"]
    cpu, memory = domain.get("cpu") or {}, domain.get("memory") or {}
    guest = memory.get("guest")
    if "realtime" in cpu:
        return "Memory hotplug is not compatible with realtime VMs"
    if "guestMappingPassthrough" in (cpu.get("numa") or {}):
        return "Memory hotplug is not compatible with guest mapping passthrough"
    if "launchSecurity" in domain:
        return "Memory hotplug is not compatible with encrypted VMs"
    if guest is None:
        return "Guest memory must be configured when memory hotplug is enabled"
    if most is None:
        return "Max guest memory must be configured when memory hotplug is enabled"
    return _plugged_sizes(spec, quantity.parse(guest), quantity.parse(most))


def _plugged_sizes(spec: Spec, guest: quantity.Quantity, most: quantity.Quantity) -> str | None:
    pages = (spec["domain"]["memory"].get("hugepages") or {}).get("pageSize")
    block, block_name = (_BLOCK_OF_1GI_PAGES, "1Gi") if pages == "1Gi" else (_BLOCK, "2Mi")
    if guest.nanos > most.nanos:
        return "Guest memory is greater than the configured maxGuest memory"
    if guest.value % block:
        return f"Guest memory must be {block_name} aligned"
    if most.value % block:
        return f"MaxGuest must be {block_name} aligned"
    if spec.get("architecture") != AMD64:
        return "Memory hotplug is only available for x86_64 VMs"
    if guest.value < _LEAST_FOR_HOTPLUG:
        return "Memory hotplug is only available for VMs with at least 1Gi of guest memory"
    return None


def requested_at_all(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """ValidateVirtualMachineInstanceMandatoryFields: of VMIs only."""
    memory = spec["domain"].get("memory") or {}
    requested = amount(spec["domain"]["resources"], "requests", "memory").value
    if requested == 0 and "guest" not in memory and "hugepages" not in memory:
        fields = [f"{path}.domain.{name}" for name in ("memory.guest", "memory.hugepages.pageSize")]
        ways = f"'{fields[0]}', '{fields[1]}' or '{path}.domain.resources.requests.memory'"
        yield Cause(REQUIRED, f"no memory requested, at least one of {ways} must be set", "")
