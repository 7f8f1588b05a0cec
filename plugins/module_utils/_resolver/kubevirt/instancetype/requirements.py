"""Whether a VM meets the requirements of its preference (KubeVirt ``preference/requirements``)."""

from __future__ import annotations

from typing import Any, Optional

from ...api import behaviour
from ...api.errors import KubeVirtError, Panic
from ...api.quantity import parse
from ...api.release import NEWEST, Release
from . import topology

_INSTANCETYPE = "spec.instancetype"
_TEMPLATE = "spec.template.spec"
_CPU = f"{_TEMPLATE}.domain.cpu"

Spec = Optional[dict[str, Any]]


class UnmetRequirement(KubeVirtError):
    """A VM does not meet a requirement of its preference. fields: full paths of the fields with too small values."""

    def __init__(self, message: str, *fields: str) -> None:
        super().__init__(message)
        self.fields = fields


def check(instancetype: Spec, preference: Spec, spec: dict[str, Any], release: Release = NEWEST) -> None:
    """Raises UnmetRequirement for the first unmet requirement in KubeVirt's order: cpu, memory, architecture.

    instancetype, preference: canonical specs or None. spec: the canonical VMI spec before or after the instancetype is
    applied; only guest memory, architecture and, without an instancetype, the number of CPUs count.
    """
    required = (preference or {}).get("requirements")
    if not required or preference is None:
        return
    domain = spec.get("domain", {})
    _cpu(required, instancetype, preference, domain)
    _memory(required, instancetype, domain, release)
    _architecture(required, spec)


def _cpu(required: dict[str, Any], instancetype: Spec, preference: dict[str, Any], domain: dict[str, Any]) -> None:
    if "cpu" not in required:
        return
    need = required["cpu"]["guest"]
    if instancetype is not None:
        have = instancetype["cpu"]["guest"]
        if have >= need:
            return
        message = (
            f"insufficient CPU resources of {have} vCPU provided by instance type, preference requires {need} vCPU"
        )
        raise UnmetRequirement(message, _INSTANCETYPE)
    if "cpu" not in domain:
        message = f"no CPU resources provided by VirtualMachine, preference requires {need} vCPU"
        raise UnmetRequirement(message, _CPU)
    counted = _counted_fields(preference)
    if counted is None:
        return
    fields, name = counted
    # Go multiplies in uint32; a missing number is 0.
    have = 1 if fields else 0
    for field in fields:
        have = have * domain["cpu"].get(field, 0) % 2**32
    if have >= need:
        return
    message = (
        f"insufficient CPU resources of {have} vCPU provided by VirtualMachine,"
        f" preference requires {need} vCPU provided as {name}"
    )
    raise UnmetRequirement(message, *(f"{_CPU}.{field}" for field in fields))


_SPREAD_FIELDS = {
    topology.SOCKETS_CORES: ("sockets", "cores"),
    topology.CORES_THREADS: ("cores", "threads"),
    topology.SOCKETS_CORES_THREADS: ("sockets", "cores", "threads"),
}


def _counted_fields(preference: dict[str, Any]) -> tuple[tuple[str, ...], str] | None:
    """The fields of a VM's cpu that count for the preferred topology, and their name; None if nothing is checked."""
    kind = topology.preferred(preference)
    if kind in (topology.SOCKETS, topology.CORES, topology.THREADS):
        return (kind,), kind
    if kind == topology.ANY:
        return ("cores", "sockets", "threads"), "cores, sockets and threads"
    if kind == topology.SPREAD:
        across = topology.spread_of(preference).across
        return _SPREAD_FIELDS.get(across, ()), across
    return None


def _memory(required: dict[str, Any], instancetype: Spec, domain: dict[str, Any], release: Release) -> None:
    if "memory" not in required:
        return
    need = required["memory"]["guest"]
    own = domain.get("memory", {}).get("guest")
    if not release.has(behaviour.VM_MEMORY_COUNTS):
        if instancetype is not None:
            own = None
        elif "memory" not in domain:
            return
        elif own is None:
            raise Panic("a VM with a memory object needs guest memory where the preference requires memory")
    have = own if own is not None else "0" if instancetype is None else instancetype["memory"]["guest"]
    if parse(have).nanos >= parse(need).nanos:
        return
    by, path = ("VirtualMachine", f"{_TEMPLATE}.domain.memory")
    if instancetype is not None:
        by, path = ("instance type", _INSTANCETYPE)
    message = f"insufficient Memory resources of {have} provided by {by}, preference requires {need}"
    raise UnmetRequirement(message, path)


def _architecture(required: dict[str, Any], spec: dict[str, Any]) -> None:
    need, have = required.get("architecture"), spec.get("architecture", "")
    if need is not None and need != have:
        message = f"preference requires architecture {need} but {have} is being requested"
        raise UnmetRequirement(message, f"{_TEMPLATE}.architecture")
