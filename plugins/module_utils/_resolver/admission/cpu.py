"""CPU: requests and limits, topology, features and dependencies (vmi-create-admitter.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .amounts import amount, millis
from .cause import INVALID, NOT_SUPPORTED, REQUIRED, Cause, Spec
from .cluster import Cluster

_FEATURE_POLICIES: Final = ("", "force", "require", "optional", "disable", "forbid")


def request_not_negative(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateCPURequestNotNegative."""
    yield from _not_negative(spec, path, "requests")


def limit_not_negative(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateCPULimitNotNegative."""
    yield from _not_negative(spec, path, "limits")


def _not_negative(spec: Spec, path: str, kind: str) -> Iterator[Cause]:
    found = amount(spec["domain"]["resources"], kind, "cpu")
    if millis(found) < 0:
        field = f"{path}.domain.resources.{kind}.cpu"
        yield Cause(INVALID, f"{field} '{found.text}': must be greater than or equal to 0.", field)


def request_within_limit(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateCpuRequestDoesNotExceedLimit."""
    resources = spec["domain"]["resources"]
    requested, limit = amount(resources, "requests", "cpu"), amount(resources, "limits", "cpu")
    if 0 < millis(limit) < millis(requested):
        field = f"{path}.domain.resources.requests.cpu"
        most = f"{path}.domain.resources.limits.cpu"
        yield Cause(INVALID, f"{field} '{requested.text}' is greater than {most} '{limit.text}'", field)


def numa(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
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


def isolated_emulator_thread(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateCPUIsolatorThread."""
    cpu = spec["domain"].get("cpu") or {}
    if cpu.get("isolateEmulatorThread") and not cpu.get("dedicatedCpuPlacement"):
        message = "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement"
        yield Cause(INVALID, message, f"{path}.domain.cpu.isolateEmulatorThread")


def features(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateCPUFeaturePolicies."""
    for index, feature in enumerate((spec["domain"].get("cpu") or {}).get("features", ())):
        policy = feature.get("policy", "")
        if policy not in _FEATURE_POLICIES:
            message = f"CPU feature {feature['name']} uses policy {policy} that is not supported."
            yield Cause(NOT_SUPPORTED, message, f"{path}.domain.cpu.features[{index}].policy")


def sockets(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateCPUHotplug."""
    cpu = spec["domain"].get("cpu") or {}
    most = cpu.get("maxSockets", 0)
    if most and cpu.get("sockets", 0) > most:
        message = "Number of sockets in CPU topology is greater than the maximum sockets allowed"
        yield Cause(INVALID, message, f"{path}.domain.cpu.sockets")


def realtime(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
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
