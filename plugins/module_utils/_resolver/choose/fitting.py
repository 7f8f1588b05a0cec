"""Instancetypes that fit, best first.

The order is this collection's own; KubeVirt has none. First the requested series, whose sizes differ in nothing else;
then the fewest vCPUs, the least memory, the fewest demands on the node, the least overcommit; then the name.

Demands are GPUs and host devices, dedicated CPUs, an isolated emulator thread, NUMA, realtime, huge pages, launch
security, a node selector and a scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, Optional

from ..api import release_schema
from ..api.errors import FieldError, Panic
from ..api.matcher import INSTANCETYPE
from ..api.quantity import parse
from ..api.release import Release
from ..kubevirt.apply import requirements, topology

Manifest = dict[str, Any]
Spec = Optional[Manifest]


# The labels of published catalogs. The class: general.purpose, memory.intensive, ...
CLASS_LABEL: Final = "instancetype.kubevirt.io/class"
_SIZE_LABEL: Final = "instancetype.kubevirt.io/size"


def series_of(name: str) -> str:
    """The part before the last dot: ``u1`` of ``u1.nano``; "" if there is none."""
    return name.rpartition(".")[0]


def size_of(manifest: Manifest) -> str:
    """The size of an instancetype, such as ``nano``: its label, else the part of its name after the last dot."""
    metadata = _metadata(manifest)
    return str((metadata.get("labels") or {}).get(_SIZE_LABEL) or str(metadata.get("name") or "").rpartition(".")[2])


class Constraints(NamedTuple):
    """Requirements for an instancetype; the defaults require nothing.

    preference: the canonical spec of a preference, whose requirements must be met and whose spread must divide the
    vCPUs. spec: the VM's canonical VMI spec, which may meet requirements itself; None if there is no VM yet. Then the
    architecture counts as the required one, because no instancetype sets it.
    cpu, memory: the least vCPUs, and the least memory in bytes. labels: the labels that it must have. series:
    preferred, not required.
    """

    preference: Spec = None
    spec: Spec = None
    cpu: int = 0
    memory: int = 0
    labels: Mapping[str, str] = {}
    series: str = ""


def fitting(manifests: Iterable[Manifest], constraints: Constraints, release: Release) -> list[Manifest]:
    """The instancetypes that fit, best first. Manifests that do not match the schema are left out."""
    ranked = []
    for manifest in manifests:
        try:
            spec = release_schema.canonical(INSTANCETYPE.spec_type, manifest.get("spec"), release)
        except FieldError:
            continue
        if _fits(manifest, spec, constraints, release):
            name = str(_metadata(manifest).get("name") or "")
            other_series = bool(constraints.series) and series_of(name) != constraints.series
            ranked.append(((other_series, *_rank(spec), name), manifest))
    return [manifest for _rank_, manifest in sorted(ranked, key=lambda pair: pair[0])]


def _fits(manifest: Manifest, spec: Manifest, constraints: Constraints, release: Release) -> bool:
    labels = _metadata(manifest).get("labels") or {}
    return (
        spec["cpu"]["guest"] >= constraints.cpu
        and parse(spec["memory"]["guest"]).nanos >= parse(str(constraints.memory)).nanos
        and all(labels.get(label) == value for label, value in constraints.labels.items())
        and _meets_requirements(spec, constraints, release)
    )


def _meets_requirements(instancetype: Manifest, constraints: Constraints, release: Release) -> bool:
    spec = constraints.spec
    if spec is None:
        required = (constraints.preference or {}).get("requirements", {})
        spec = {"architecture": required.get("architecture", "")}
    try:
        uneven = topology.spread_indivisible(instancetype, constraints.preference, release)
    except Panic:
        return False
    return uneven is None and requirements.unmet(instancetype, constraints.preference, spec, release) is None


def rank(manifest: Manifest, release: Release) -> tuple[Any, ...]:
    """What decides between two instancetypes before their names do. Raises FieldError."""
    return _rank(release_schema.canonical(INSTANCETYPE.spec_type, manifest.get("spec"), release))


def _rank(spec: Manifest) -> tuple[Any, ...]:
    cpu, memory = spec["cpu"], spec["memory"]
    demands = (
        *(spec.get(field) for field in ("gpus", "hostDevices", "launchSecurity", "nodeSelector", "schedulerName")),
        *(cpu.get(field) for field in ("dedicatedCPUPlacement", "isolateEmulatorThread", "numa", "realtime")),
        memory.get("hugepages"),
    )
    return (
        cpu["guest"],
        parse(memory["guest"]).nanos,
        # An empty object is also a demand.
        sum(demand is not None and demand is not False for demand in demands),
        memory.get("overcommitPercent", 0),
    )


def _metadata(manifest: Manifest) -> Manifest:
    return manifest.get("metadata") or {}
