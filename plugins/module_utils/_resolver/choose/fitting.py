"""Instancetypes that fit, best first.

The order is this collection's own; KubeVirt has none. First the requested series, whose sizes differ in nothing else;
then the fewest vCPUs, the least memory, the fewest demands on the node, the least overcommit; then the name.

Demands are GPUs and host devices, dedicated CPUs, an isolated emulator thread, NUMA, realtime, huge pages, launch
security, a node selector and a scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Optional

from ..api import release_schema
from ..api.errors import FieldError, Panic
from ..api.matcher import INSTANCETYPE
from ..api.quantity import parse
from ..api.release import Release
from ..kubevirt.apply import requirements, topology

Manifest = dict[str, Any]
Spec = Optional[Manifest]


# The label of published catalogs: general.purpose, memory.intensive, ...
CLASS_LABEL = "instancetype.kubevirt.io/class"


def series_of(name: str) -> str:
    """The part before the last dot: ``u1`` of ``u1.nano``; "" if there is none."""
    return name.rpartition(".")[0]


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
            ranked.append((_rank(manifest, spec, constraints.series), manifest))
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
    """Whether an instancetype meets the requirements of the preference."""
    spec = constraints.spec
    if spec is None:
        required = (constraints.preference or {}).get("requirements", {})
        spec = {"architecture": required.get("architecture", "")}
    try:
        uneven = topology.spread_indivisible(instancetype, constraints.preference, release)
    except Panic:
        return False
    return uneven is None and requirements.unmet(instancetype, constraints.preference, spec, release) is None


def _rank(manifest: Manifest, spec: Manifest, series: str) -> tuple[Any, ...]:
    cpu, memory = spec["cpu"], spec["memory"]
    demands = (
        *(spec.get(field) for field in ("gpus", "hostDevices", "launchSecurity", "nodeSelector", "schedulerName")),
        *(cpu.get(field) for field in ("dedicatedCPUPlacement", "isolateEmulatorThread", "numa", "realtime")),
        memory.get("hugepages"),
    )
    name = str(_metadata(manifest).get("name") or "")
    return (
        bool(series) and series_of(name) != series,
        cpu["guest"],
        parse(memory["guest"]).nanos,
        # An empty object is also a demand.
        sum(demand is not None and demand is not False for demand in demands),
        memory.get("overcommitPercent", 0),
        name,
    )


def _metadata(manifest: Manifest) -> Manifest:
    return manifest.get("metadata") or {}
