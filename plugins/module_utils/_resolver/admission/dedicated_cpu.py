"""Requests, limits and topology that dedicated CPUs require (validateCpuPinning, vmi-create-admitter.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..api import quantity
from .amounts import amount, millis
from .cause import INVALID, Cause, Spec
from .cluster import ARM64, Cluster

_MOST_THREADS: Final = 2
_UINT32: Final = 2**32


def dedicated(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateCpuPinning."""
    domain = spec["domain"]
    if not (domain.get("cpu") or {}).get("dedicatedCpuPlacement"):
        return
    yield from _memory_is_given(domain, path, cluster.rules.tells_guest_memory)
    yield from _whole_cpus(domain, path)
    yield from _memory_is_fixed(domain, path)
    yield from _number_of_cpus(domain, path)
    yield from _threads(spec, path, cluster)


def vcpus(cpu: Spec) -> int:
    """hwutil.GetNumberOfVCPUs: unset numbers are ignored, not 0."""
    product = 0
    for count in (cpu.get("cores", 0), cpu.get("sockets", 0), cpu.get("threads", 0)):
        if count:
            product = (product or 1) * count % _UINT32
    return product


def _memory_is_given(domain: Spec, path: str, guest: bool) -> Iterator[Cause]:
    """validateMemoryIsProvided. guest: the guest's memory is named, too."""
    memory, resources = domain.get("memory") or {}, domain["resources"]
    if any(amount(resources, kind, "memory").nanos for kind in ("limits", "requests")):
        return
    if "hugepages" not in memory and quantity.parse(memory.get("guest", "0")).nanos == 0:
        field = f"{path}.domain.resources.limits.memory"
        ways = [f"{path}.domain.resources.requests.memory", field]
        ways += [f"{path}.domain.memory.hugepages", f"{path}.domain.memory.guest"] if guest else []
        yield Cause(INVALID, f"{', '.join(ways[:-1])} or {ways[-1]} should be provided", field)


def _whole_cpus(domain: Spec, path: str) -> Iterator[Cause]:
    """validateCPURequestIsInteger, validateCPULimitIsInteger."""
    for kind in ("requests", "limits"):
        found = amount(domain["resources"], kind, "cpu")
        if found.value > 0 and found.value * 1000 != millis(found):
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
    counted = vcpus(domain["cpu"])
    requests, limits = (f"{path}.domain.resources.{kind}.cpu" for kind in ("requests", "limits"))
    cores, field = f"{path}.domain.cpu.cores", f"{path}.domain.cpu.dedicatedCpuPlacement"
    when = "when DedicatedCPUPlacement is true "
    if requested == 0 and limit == 0 and counted == 0:
        yield Cause(INVALID, f"either {requests} or {limits} or {cores} must be provided {when}", field)
    if requested > 0 and limit > 0 and requested != limit:
        yield Cause(INVALID, f"{requests} or {limits} must be equal {when}", field)
    if (requested > 0 or limit > 0) and counted > 0 and counted not in (requested, limit):
        message = f"{requests} or {limits} must not be provided at the same time with {cores} {when}"
        yield Cause(INVALID, message, field)


def _threads(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateThreadCountOnArchitecture, validateThreadCountOnDedicatedCPUPlacement."""
    threads, field = spec["domain"]["cpu"].get("threads", 0), f"{path}.domain.cpu.threads"
    if threads > 1 and (spec.get("architecture") or cluster.architecture) == ARM64:
        architecture = f"{path}.architecture"
        message = f"threads must not be greater than 1 at {field} (got {threads}) when {architecture} is arm64"
        yield Cause(INVALID, message, architecture)
    if threads > _MOST_THREADS:
        given = f"must be provided at {field} (got {threads}) when DedicatedCPUPlacement is true"
        yield Cause(INVALID, f"Not more than two threads {given}", f"{path}.domain.cpu.dedicatedCpuPlacement")
