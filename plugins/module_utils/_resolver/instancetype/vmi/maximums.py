"""The maximum sockets and memory of a new VMI for hotplug (``pkg/defaults``, setupHotplug)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...api import quantity
from ...api.names import shown
from .memory_plug import refused

Spec = dict[str, Any]

# The default maximum as a multiple of the start value (maxHotplugRatio).
RATIO: Final = 4
_MOST_VCPUS: Final = 512


class Limits(NamedTuple):
    """The cluster's liveUpdateConfiguration.

    sockets: the maximum of every VMI, 0 for none. memory: the maximum of every VMI, a quantity.
    ratio: otherwise the maximum as a multiple of the start value.
    """

    sockets: int = 0
    memory: str | None = None
    ratio: int = RATIO


def limits(configuration: Spec) -> Limits:
    """Reads `spec.configuration` of a KubeVirt object. Raises ValueError for a number that is none."""
    found = configuration.get("liveUpdateConfiguration") or {}
    sockets, ratio = found.get("maxCpuSockets") or 0, found.get("maxHotplugRatio", RATIO)
    for name, number in (("maxCpuSockets", sockets), ("maxHotplugRatio", ratio)):
        # Python multiplies texts and lists, too, until its memory is full.
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError(f"liveUpdateConfiguration.{name}: expected a whole number, found {shown(number)}")
    memory = found.get("maxGuest")
    return Limits(sockets, None if memory is None else quantity.canonical(str(memory)), ratio)


def set_maximums(spec: Spec, allowed: Limits) -> None:
    """Sets the maximums in the canonical spec of a VMI, after the defaults of CPU and memory."""
    _sockets(spec["domain"]["cpu"], allowed)
    _memory(spec, allowed)


def _sockets(cpu: Spec, allowed: Limits) -> None:
    sockets = cpu.get("sockets", 0)
    if cpu.get("maxSockets"):
        return
    most = max(allowed.sockets, sockets) if allowed.sockets else 0
    if not most:
        most = sockets * allowed.ratio
        in_socket = cpu.get("cores", 0) * cpu.get("threads", 0)
        if most * in_socket > _MOST_VCPUS:
            most = max(_MOST_VCPUS // in_socket, sockets)
    if most:
        cpu["maxSockets"] = most


def _memory(spec: Spec, allowed: Limits) -> None:
    memory = spec["domain"]["memory"]
    guest = memory.get("guest")
    if guest is None or "maxGuest" in memory:
        return
    most = allowed.memory
    if most is None:
        most = quantity.Quantity.of(quantity.parse(guest).value * allowed.ratio, quantity.BINARY_SI).text
    if refused(spec, most) is None:
        memory["maxGuest"] = most
