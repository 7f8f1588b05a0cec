"""vCPUs, model, placement and topology of an instancetype (KubeVirt ``applyCPU``)."""

from __future__ import annotations

from typing import Any, Final

from ...api.tree import copy
from .topology import Topology, topology

# Some names differ in case between instancetype and VM.
_POINTERS: Final = (
    ("model", "model", "domain.cpu.model"),
    ("dedicatedCPUPlacement", "dedicatedCpuPlacement", "domain.cpu.dedicatedCPUPlacement"),
    ("isolateEmulatorThread", "isolateEmulatorThread", "domain.cpu.isolateEmulatorThread"),
    ("numa", "numa", "domain.cpu.numa"),
    ("realtime", "realtime", "domain.cpu.realtime"),
)


def cpu(instancetype: dict[str, Any], preference: dict[str, Any] | None, spec: dict[str, Any]) -> list[str]:
    """Always writes the topology, so a VM's topology always conflicts. Raises Panic like topology()."""
    instancetype_cpu = instancetype["cpu"]
    domain = spec["domain"]
    conflicts = _conflicts(instancetype_cpu, domain)
    if conflicts:
        return conflicts
    target = domain.setdefault("cpu", {})
    for source, field, _path in _POINTERS:
        if source in instancetype_cpu:
            _set(target, field, copy(instancetype_cpu[source]))
    if "maxSockets" in instancetype_cpu:
        _set(target, "maxSockets", instancetype_cpu["maxSockets"])
    for field, count in zip(Topology._fields, topology(instancetype_cpu["guest"], preference)):
        _set(target, field, count)
    return []


def _conflicts(instancetype_cpu: dict[str, Any], domain: dict[str, Any]) -> list[str]:
    resources = domain["resources"]
    own = domain.get("cpu")
    conflicts = [f"domain.resources.{kind}.cpu" for kind in ("requests", "limits") if "cpu" in resources.get(kind, {})]
    if not own:
        return conflicts
    conflicts += [f"domain.cpu.{field}" for field in ("sockets", "cores", "threads") if field in own]
    conflicts += [path for source, field, path in _POINTERS if source in instancetype_cpu and field in own]
    return conflicts


def _set(target: dict[str, Any], field: str, value: Any) -> None:
    """Sets a field and omits a zero value; an empty object is a set pointer and stays."""
    if value or isinstance(value, dict):
        target[field] = value
    else:
        target.pop(field, None)
