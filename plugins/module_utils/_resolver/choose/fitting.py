"""Instancetypes that fit, best first, for a VM or for the options of a user; and whether one fits a preference.

The order is this collection's own; KubeVirt has none. First the requested series, whose sizes differ in nothing else;
then the fewest vCPUs, the least memory, the fewest demands on the node, the least overcommit; then the name.

Demands are GPUs and host devices, dedicated CPUs, an isolated emulator thread, NUMA, realtime, huge pages, launch
security, a node selector and a scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, Optional

from ..api import release_schema
from ..api.errors import FieldError, KubeVirtError, QuantityError
from ..api.manifest import Manifest, labels_of, name_of
from ..api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE
from ..api.name_rules import quoted
from ..api.quantity import parse
from ..api.release import Release
from ..api.state import OBSOLETE, is_active, state_of
from ..kubevirt.instancetype import requirements, topology
from .rejected import Rejected

Spec = Optional[Manifest]


# The labels of published catalogs. The class: general.purpose, memory.intensive, ...
CLASS_LABEL: Final = "instancetype.kubevirt.io/class"
_SIZE_LABEL: Final = "instancetype.kubevirt.io/size"


def series_of(name: str) -> str:
    """The part before the last dot: ``u1`` of ``u1.nano``; "" if there is none."""
    return name.rpartition(".")[0]


def size_of(manifest: Manifest) -> str:
    """The size of an instancetype, such as ``nano``: its label, else the part of its name after the last dot."""
    return str(labels_of(manifest).get(_SIZE_LABEL) or name_of(manifest).rpartition(".")[2])


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
            name = name_of(manifest)
            other_series = bool(constraints.series) and series_of(name) != constraints.series
            ranked.append(((other_series, *_rank(spec), name), manifest))
    return [manifest for _rank_, manifest in sorted(ranked, key=lambda pair: pair[0])]


def _fits(manifest: Manifest, spec: Manifest, constraints: Constraints, release: Release) -> bool:
    labels = labels_of(manifest)
    return (
        spec["cpu"]["guest"] >= constraints.cpu
        and parse(spec["memory"]["guest"]).nanos >= parse(str(constraints.memory)).nanos
        and all(labels.get(label) == value for label, value in constraints.labels.items())
        and not _misfit(spec, constraints.preference, constraints.spec, release)
    )


def _misfit(instancetype: Manifest, preference: Spec, spec: Spec, release: Release) -> str:
    """Why KubeVirt rejects a VM with both, in its words; "" if it does not. Canonical specs, see `Constraints`."""
    if spec is None:
        spec = {"architecture": (preference or {}).get("requirements", {}).get("architecture", "")}
    try:
        topology.check_spread(instancetype, preference)
        requirements.check(instancetype, preference, spec, release)
    except KubeVirtError as error:
        return error.message
    return ""


def rank(manifest: Manifest, release: Release) -> tuple[Any, ...]:
    """The key that orders instancetypes; names decide between equal ones. Raises FieldError."""
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


_UINT32 = 2**32 - 1


def choose(
    manifests: list[Any],
    *,
    preference: Manifest | str | None = None,
    cpu: Any = None,
    memory: Any = None,
    class_label: str | None = None,
    labels: Mapping[str, str] | None = None,
    series: str = "",
    deprecated: bool = False,
    release: Release,
) -> list[Manifest]:
    """The instancetypes among the manifests that fit, in the order of `fitting`. Other kinds are ignored.

    preference: a manifest, a bare spec, or the name of a preference among the manifests. cpu: the least vCPUs. memory:
    the least memory, a quantity. class_label: the value of the published catalogs' class label. deprecated: deprecated
    instancetypes may fit, too; obsolete ones never do. Raises Rejected.
    """
    constraints = Constraints(
        preference=_preference(preference, manifests, release) if preference is not None else None,
        cpu=count_of(cpu),
        memory=bytes_of(memory),
        labels={**(labels or {}), **({CLASS_LABEL: class_label} if class_label else {})},
        series=series,
    )
    offered = [
        item
        for item in _instancetypes(manifests, release)
        if is_active(item) or (deprecated and state_of(item).name != OBSOLETE)
    ]
    return fitting(offered, constraints, release)


def _instancetypes(manifests: list[Any], release: Release) -> list[Manifest]:
    instancetypes = []
    for index, manifest in enumerate(manifests):
        if not isinstance(manifest, dict):
            raise Rejected(f"[{index}]: expected a manifest, found {quoted(manifest)}")
        if "kind" not in manifest:
            raise Rejected(f"[{index}].kind: missing; write {INSTANCETYPE.kind} or {INSTANCETYPE.cluster_kind}")
        if MATCHER_FIELD_OF_KIND.get(manifest["kind"]) is not INSTANCETYPE:
            continue
        try:
            release_schema.canonical(INSTANCETYPE.spec_type, manifest.get("spec"), release)
        except FieldError as error:
            raise Rejected(f"[{index}] ({name_of(manifest)}): {error.with_parent('spec')}") from None
        instancetypes.append(manifest)
    return instancetypes


def _preference(preference: Manifest | str, manifests: list[Any], release: Release) -> Manifest:
    if isinstance(preference, str):
        matches = [
            manifest
            for manifest in manifests
            if isinstance(manifest, dict)
            and MATCHER_FIELD_OF_KIND.get(manifest.get("kind", "")) is PREFERENCE
            and name_of(manifest) == preference
        ]
        if not matches:
            raise Rejected(
                f"preference: the manifests do not contain the preference {quoted(preference)}; add its manifest"
            )
        preference = matches[0]
    # The spec of a preference has no field `spec`.
    bare = "spec" not in preference
    try:
        return release_schema.canonical(PREFERENCE.spec_type, preference if bare else preference["spec"], release)
    except FieldError as error:
        raise Rejected(f"preference: {error if bare else error.with_parent('spec')}") from None


def count_of(value: Any) -> int:
    """The vCPUs of the option `cpu`, 32 bits at most; 0 for None. Raises Rejected."""
    text = "0" if value is None else str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or int(text) > _UINT32:
        raise Rejected(f"cpu: expected a whole number, found {quoted(value)}")
    return int(text)


def bytes_of(value: Any) -> int:
    """The bytes of the option `memory`; 0 for None. Raises Rejected."""
    try:
        return 0 if value is None else parse(str(value)).value
    except QuantityError:
        raise Rejected(
            f"memory: {quoted(value)} is not a quantity; write a quantity such as 512Mi, 4Gi or 4G"
        ) from None


def rejection_of_pair(instancetype: Manifest, preference: Manifest, architecture: str, release: Release) -> str:
    """Why KubeVirt rejects every VM with both that boots an image of an architecture, in its words; "" if it does not.

    architecture: "" if unknown.
    """
    try:
        size = release_schema.canonical(INSTANCETYPE.spec_type, instancetype.get("spec"), release)
        preferences = release_schema.canonical(PREFERENCE.spec_type, preference.get("spec"), release)
    except FieldError as error:
        return str(error)
    return _misfit(size, preferences, {"architecture": architecture} if architecture else None, release)
