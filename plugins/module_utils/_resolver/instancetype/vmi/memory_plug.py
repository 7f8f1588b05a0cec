"""Whether memory can be hotplugged into a guest."""

from __future__ import annotations

from typing import Any, Final

from ...api import quantity

Manifest = dict[str, Any]

_BLOCK: Final = 2 * 2**20  # bytes
_LARGE_BLOCK: Final = 2**30  # with huge pages of that size
_LEAST: Final = 2**30


def refused(wanted: Manifest, most: str) -> str | None:
    """Why memory cannot be hotplugged into a guest, or None (``ValidateLiveUpdateMemory``).

    wanted: a VMI spec with `memory`. most: the maximum, a quantity.
    """
    domain = wanted["domain"]
    cpu = domain.get("cpu") or {}
    if cpu.get("realtime") is not None:
        return "Memory hotplug is not compatible with realtime VMs"
    if (cpu.get("numa") or {}).get("guestMappingPassthrough") is not None:
        return "Memory hotplug is not compatible with guest mapping passthrough"
    if domain.get("launchSecurity") is not None:
        return "Memory hotplug is not compatible with encrypted VMs"
    if domain["memory"].get("guest") is None:
        return "Guest memory must be configured when memory hotplug is enabled"
    guest, limit = quantity.parse(domain["memory"]["guest"]), quantity.parse(most)
    large = (domain["memory"].get("hugepages") or {}).get("pageSize") == "1Gi"
    block = _LARGE_BLOCK if large else _BLOCK
    if guest.nanos > limit.nanos:
        return "Guest memory is greater than the configured maxGuest memory"
    for name, size in (("Guest memory", guest), ("MaxGuest", limit)):
        if size.value % block:
            return f"{name} must be {quantity.Quantity.of(block, quantity.BINARY_SI).text} aligned"
    if wanted.get("architecture", "amd64") != "amd64":
        return "Memory hotplug is only available for x86_64 VMs"
    if guest.value < _LEAST:
        return "Memory hotplug is only available for VMs with at least 1Gi of guest memory"
    return None
