"""Which instancetypes fit, best first.

The rule, the one of the collection (KubeVirt has none): those of the wanted series first, as they differ in size alone;
then the fewest vCPUs, the least memory, the fewest demands on the node, the least overcommit; then by name.
Demands are GPUs and host devices, dedicated CPUs, an isolated emulator thread, NUMA, realtime, huge pages, launch
security, a node selector and a scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Optional

from ..api import release_schema
from ..api.errors import Crash, FieldError
from ..api.matcher import INSTANCETYPE
from ..api.quantity import parse
from ..api.release import Release
from ..instancetype.apply import requirements, topology
from .series import series_of

Manifest = dict[str, Any]
Spec = Optional[Manifest]


class Wanted(NamedTuple):
    """What an instancetype has to be; the defaults ask for nothing.

    preference: the canonical spec of a preference, whose requirements are met and whose spread divides the vCPUs.
    spec: the VM's canonical VMI spec, which may meet requirements itself; None where there is no VM yet: then the
    architecture is taken to be the required one, as no instancetype has a say in it.
    cpu, memory: the least vCPUs and the least memory in bytes. labels: that it has.
    series: preferred, not demanded.
    """

    preference: Spec = None
    spec: Spec = None
    cpu: int = 0
    memory: int = 0
    labels: Mapping[str, str] = {}
    series: str = ""


def fitting(manifests: Iterable[Manifest], wanted: Wanted, release: Release) -> list[Manifest]:
    """Those of the instancetypes that fit, best first. What is not of the API's types fits nothing."""
    found = []
    for manifest in manifests:
        try:
            spec = release_schema.canonical(INSTANCETYPE.spec_type, manifest.get("spec"), release)
        except FieldError:
            continue
        if _fits(manifest, spec, wanted, release):
            found.append((_rank(manifest, spec, wanted.series), manifest))
    return [manifest for _rank_, manifest in sorted(found, key=lambda entry: entry[0])]


def _fits(manifest: Manifest, spec: Manifest, wanted: Wanted, release: Release) -> bool:
    labels = _metadata(manifest).get("labels") or {}
    return (
        spec["cpu"]["guest"] >= wanted.cpu
        and parse(spec["memory"]["guest"]).nanos >= parse(str(wanted.memory)).nanos
        and all(labels.get(label) == value for label, value in wanted.labels.items())
        and _contents(spec, wanted, release)
    )


def _contents(instancetype: Manifest, wanted: Wanted, release: Release) -> bool:
    """Whether the preference is content with an instancetype."""
    spec = wanted.spec
    if spec is None:
        required = (wanted.preference or {}).get("requirements", {})
        spec = {"architecture": required.get("architecture", "")}
    try:
        uneven = topology.spread_indivisible(instancetype, wanted.preference, release)
    except Crash:
        return False
    return uneven is None and requirements.unmet(instancetype, wanted.preference, spec, release) is None


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
        # An empty object is a demand too.
        sum(demand is not None and demand is not False for demand in demands),
        memory.get("overcommitPercent", 0),
        name,
    )


def _metadata(manifest: Manifest) -> Manifest:
    return manifest.get("metadata") or {}
