"""What the guest of a VM gets, and what its pod asks the node for.

KubeVirt ``virt-controller/services/renderresources.go`` in its newest release, on a cluster that has no memory
overcommit and no automatic limits set. Not included: the memory overhead of the launcher pod, which depends on the
node's architecture and much else, and the devices that every VM asks for (kvm, tun, vhost-net).
"""

from __future__ import annotations

from typing import Any, Final

from ...api.quantity import Quantity, parse
from .configuration import CPU_ALLOCATION_RATIO
from .guest import guest

_EVEN_PARITY: Final = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity"


def resources(metadata: dict[str, Any], spec: dict[str, Any], ratio: int = CPU_ALLOCATION_RATIO) -> dict[str, Any]:
    """{guest, pod} of an expanded template's canonical metadata and spec; what is absent is left out.

    guest: as `guest` has it, with memory_bytes, max_sockets, max_memory, io_threads.
    pod: cpu, memory, hugepages (quantities, hugepages by page size), memory_bytes, overcommit_percent, dedicated_cpus,
    devices (counts by resource name), claims ([{claim, request}]).
    ratio: vCPUs for a CPU of the node (developerConfiguration.cpuAllocationRatio), where they are not dedicated.
    """
    return {"guest": _guest(spec), "pod": _pod(metadata, spec, ratio)}


def _guest(spec: dict[str, Any]) -> dict[str, Any]:
    domain = spec["domain"]
    memory = domain.get("memory", {})
    told = {
        **guest(spec),
        "memory_bytes": parse(memory["guest"]).value if "guest" in memory else None,
        "max_sockets": domain.get("cpu", {}).get("maxSockets"),
        "max_memory": memory.get("maxGuest"),
        "io_threads_policy": domain.get("ioThreadsPolicy"),
        "io_threads": _io_threads(domain) or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _io_threads(domain: dict[str, Any]) -> int:
    """The threads of the supplemental pool; those of the other policies have no CPU of their own."""
    return int(domain.get("ioThreads", {}).get("supplementalPoolThreadCount", 0))


def _pod(metadata: dict[str, Any], spec: dict[str, Any], ratio: int) -> dict[str, Any]:
    domain = spec["domain"]
    dedicated = bool(domain.get("cpu", {}).get("dedicatedCpuPlacement"))
    cpu = _dedicated_cpus(metadata, domain) if dedicated else _shared_cpus(domain, ratio)
    told = {
        "cpu": cpu,
        "dedicated_cpus": int(cpu) if dedicated else None,
        **_memory(domain),
        "devices": _devices(domain["devices"]),
        "claims": [
            {"claim": device["claimName"], "request": device.get("requestName", "")}
            for device in _attached(domain["devices"])
            if not device.get("deviceName") and "claimName" in device
        ],
    }
    return {name: value for name, value in told.items() if value not in (None, {}, [])}


def _dedicated_cpus(metadata: dict[str, Any], domain: dict[str, Any]) -> str:
    """A CPU for each vCPU and pool thread, and one for the emulator, or two where asked to make the sum even."""
    threads = _io_threads(domain)
    cpus = guest({"domain": domain})["vcpus"] + threads
    if domain["cpu"].get("isolateEmulatorThread"):
        # KubeVirt counts the threads of the pool twice here.
        counted = cpus + (threads if domain.get("ioThreadsPolicy") == "supplementalPool" else 0)
        even = _EVEN_PARITY in metadata.get("annotations", {}) and counted % 2 == 0
        cpus += 2 if even else 1
    return str(cpus)


def _shared_cpus(domain: dict[str, Any], ratio: int) -> str:
    requested: str | None = domain["resources"].get("requests", {}).get("cpu")
    if requested is not None:
        return requested
    # KubeVirt does not use a configuration with such a ratio, but its defaults.
    share = (guest({"domain": domain})["vcpus"] + _io_threads(domain)) / (ratio if ratio > 0 else CPU_ALLOCATION_RATIO)
    return parse(f"{share!r}" if share >= 1 else f"{share * 1000!r}m").text


def _memory(domain: dict[str, Any]) -> dict[str, Any]:
    """The request without overhead: of huge pages the guest's memory, of plain memory what goes beyond it."""
    memory, own = domain.get("memory", {}), domain["resources"]
    given = memory.get("guest")
    request = own.get("requests", {}).get("memory") or own.get("limits", {}).get("memory") or given
    if request is None:
        return {}
    asked = parse(request)
    wanted = parse(given) if given is not None else asked
    told: dict[str, Any] = {}
    if "hugepages" in memory:
        paged = min(asked, wanted, key=lambda amount: amount.nanos)
        told["hugepages"] = {memory["hugepages"].get("pageSize", ""): paged.text}
        asked = Quantity.of(max(asked.value - wanted.value, 0), asked.format)
    elif wanted.nanos > asked.nanos:
        told["overcommit_percent"] = round(100 * (1 - asked.nanos / wanted.nanos), 1)
    return {"memory": asked.text, "memory_bytes": asked.value, **told}


def _attached(devices: dict[str, Any]) -> list[dict[str, Any]]:
    return [*devices.get("gpus", []), *devices.get("hostDevices", [])]


def _devices(devices: dict[str, Any]) -> dict[str, int]:
    names = [
        device["deviceName"] for device in _attached(devices) if device.get("deviceName") and "claimName" not in device
    ]
    return {name: names.count(name) for name in names}
