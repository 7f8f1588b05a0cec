"""Memory: requests, limits, huge pages (vmi-create-admitter.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...api import errors, quantity
from ...api.errors import Panic
from .cluster_config import ClusterConfig
from .rule import INVALID, Cause, Spec, amount

_MIN_REQUEST: Final = 10**6  # bytes
_NOT_A_QUANTITY: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def requests(spec: Spec, path: str, _config: ClusterConfig) -> Iterator[Cause]:
    """validateMemoryRequestsNegativeOrNull."""
    field = f"{path}.domain.resources.requests.memory"
    requested = amount(spec["domain"]["resources"], "requests", "memory")
    if requested.value < 0:
        yield Cause(INVALID, f"{field} '{requested.text}': must be greater than or equal to 0.", field)
    elif 0 < requested.nanos < _MIN_REQUEST * 10**9:
        yield Cause(INVALID, f"{field} '{requested.text}': must be greater than or equal to 1M.", field)


def limits(spec: Spec, path: str, _config: ClusterConfig) -> Iterator[Cause]:
    """validateMemoryLimitsNegativeOrNull."""
    field = f"{path}.domain.resources.limits.memory"
    resources = spec["domain"]["resources"]
    limit, requested = amount(resources, "limits", "memory"), amount(resources, "requests", "memory")
    if limit.value < 0:
        yield Cause(INVALID, f"{field} '{limit.text}': must be greater than or equal to 0.", field)
    if 0 < limit.value < requested.value:
        request_field = f"{path}.domain.resources.requests.memory"
        yield Cause(
            INVALID, f"{request_field} '{requested.text}' is greater than {field} '{limit.text}'", request_field
        )


def huge_pages(spec: Spec, path: str, config: ClusterConfig) -> Iterator[Cause]:
    """validateHugepagesMemoryRequests. Raises Panic for pages of size 0, by which KubeVirt divides."""
    domain = spec["domain"]
    memory = domain.get("memory") or {}
    if "hugepages" not in memory:
        return
    page = memory["hugepages"].get("pageSize", "")
    field = f"{path}.domain.{config.rules.page_size_field}"
    try:
        size = quantity.parse(page).value
    except errors.QuantityError:
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


def guest_within_limit(spec: Spec, path: str, config: ClusterConfig) -> Iterator[Cause]:
    """validateGuestMemoryLimit, which is skipped if changes reach running guests."""
    guest = (spec["domain"].get("memory") or {}).get("guest")
    limit = amount(spec["domain"]["resources"], "limits", "memory")
    if config.live_updates or guest is None or limit.value == 0:
        return
    if limit.value < quantity.parse(guest).value:
        field, limit_field = f"{path}.domain.memory.guest", f"{path}.domain.resources.limits.memory"
        message = f"{field} '{guest}' must be equal to or less than the memory limit {limit_field} '{limit.text}'"
        yield Cause(INVALID, message, field)


def reserved_overhead(spec: Spec, path: str, config: ClusterConfig) -> Iterator[Cause]:
    """validateReservedOverheadMemlock."""
    if "reservedOverhead" in (spec["domain"].get("memory") or {}) and not config.has_gate("ReservedOverheadMemlock"):
        message = "Reserved overhead memlock feature gate is not enabled in kubevirt-config"
        yield Cause(INVALID, message, f"{path}.domain.memory.reservedOverhead")
