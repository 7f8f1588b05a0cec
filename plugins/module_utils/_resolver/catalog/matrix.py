"""The figures of instancetypes and preferences by which users choose, and which of them fit together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..api import schema
from ..api.errors import KubeVirtError
from ..api.keys import CATALOG_LABEL, CATALOG_VERSION_LABEL, MANAGED_BY_LABEL
from ..api.manifest import Manifest
from ..api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE, MatcherField
from ..api.quantity import parse
from ..api.state import ACTIVE, state_of
from ..api.tree import value_at
from ..choose.fitting import series_of, size_of
from ..kubevirt.instancetype import requirements, topology
from .labels import architecture_of, class_of, os_of, shown_of, wrong_labels
from .replacement import as_facts, replacements

# Feature → the field that enables it unless absent or false. For instancetypes these are demands on the node.
INSTANCETYPE_FEATURES: Final = {
    "dedicated_cpu": "cpu.dedicatedCPUPlacement",
    "isolated_emulator_thread": "cpu.isolateEmulatorThread",
    "numa": "cpu.numa",
    "realtime": "cpu.realtime",
    "max_sockets": "cpu.maxSockets",
    "hugepages": "memory.hugepages",
    "overcommit": "memory.overcommitPercent",
    "max_memory": "memory.maxGuest",
    "gpus": "gpus",
    "host_devices": "hostDevices",
    "io_threads": "ioThreadsPolicy",
    "launch_security": "launchSecurity",
    "node_selector": "nodeSelector",
    "scheduler": "schedulerName",
}
PREFERENCE_FEATURES: Final = {
    "bios": "firmware.preferredUseBios",
    "efi": "firmware.preferredEfi",
    "secure_boot": "firmware.preferredEfi.secureBoot",
    "tpm": "devices.preferredTPM",
    "smm": "features.preferredSmm",
    "hyperv": "features.preferredHyperv",
    "clock": "clock",
    "multi_queue": "devices.preferredNetworkInterfaceMultiQueue",
    "block_multi_queue": "devices.preferredBlockMultiQueue",
    "dedicated_io_thread": "devices.preferredDiskDedicatedIoThread",
    "input": "devices.preferredInputType",
    "rng": "devices.preferredRng",
    "video": "devices.preferredVideoType",
    "sound": "devices.preferredSoundModel",
    "virtio_transitional": "devices.preferredUseVirtioTransitional",
    "launch_security": "preferredLaunchSecurity",
}


def facts(manifest: Manifest) -> dict[str, Any]:
    """The facts about an instancetype or preference, with memory as a quantity and in bytes.

    vcpus, memory: the size that an instancetype gives or a preference requires (0 for none).
    Raises FieldError for a spec that does not match the schema.
    """
    matcher_field = MATCHER_FIELD_OF_KIND[manifest["kind"]]
    metadata = manifest["metadata"]
    labels, state = metadata.get("labels") or {}, state_of(manifest)
    spec = schema.canonical(matcher_field.spec_type, manifest.get("spec"))
    is_instancetype = matcher_field is INSTANCETYPE
    source = spec if is_instancetype else spec.get("requirements", {})
    memory = str(source.get("memory", {}).get("guest") or "0")
    result: dict[str, Any] = {
        "kind": manifest["kind"],
        "name": metadata["name"],
        "namespace": metadata.get("namespace") or "",
        "labels": labels,
        "annotations": metadata.get("annotations") or {},
        "generation": metadata.get("generation"),
        "vcpus": source.get("cpu", {}).get("guest") or 0,
        "memory": memory,
        "memory_bytes": parse(memory).value,
        "features": _features(spec, INSTANCETYPE_FEATURES if is_instancetype else PREFERENCE_FEATURES),
        "catalog": labels.get(CATALOG_LABEL, ""),
        "catalog_version": labels.get(CATALOG_VERSION_LABEL, ""),
        "managed_by": labels.get(MANAGED_BY_LABEL, ""),
        "deprecated": state.name != ACTIVE,
        "state": state.name,
        "replacement": state.replacement,
        "obsolete_from": state.obsolete_from,
        **shown_of(manifest),
        "spec": manifest.get("spec") or {},
    }
    if is_instancetype:
        series = series_of(metadata["name"])
        result.update({"class": class_of(manifest), "series": series, "size": size_of(manifest)})
    else:
        result.update(
            os=os_of(manifest), architecture=architecture_of(manifest), topology=topology.preferred(spec) or "sockets"
        )
    return result


def manifest_of(object_facts: Mapping[str, Any]) -> Manifest:
    """The instancetype or preference that has these facts."""
    parts = ("name", "namespace", "labels", "annotations", "generation")
    metadata = {part: object_facts[part] for part in parts}
    return {"kind": object_facts["kind"], "metadata": metadata, "spec": object_facts["spec"]}


def _features(spec: Manifest, paths: dict[str, str]) -> list[str]:
    # An empty object counts as set.
    return [name for name, path in paths.items() if value_at(spec, path.split(".")) not in (None, False, 0, "", [])]


Facts = dict[str, Any]

# The meaning of a cell's sign; a pair that fits has none.
LEGEND: Final = {
    "c": "too few vCPUs",
    "m": "too little memory",
    "b": "too few vCPUs and too little memory",
    "s": "the vCPUs cannot be spread as preferred",
}


class Cell(NamedTuple):
    """The compatibility of an instancetype and a preference.

    sign: a key of LEGEND, "" if the pair fits. reasons: the words of KubeVirt.
    """

    sign: str = ""
    reasons: tuple[str, ...] = ()


class Matrix(NamedTuple):
    """The compatibility of all instancetypes and preferences.

    instancetypes, preferences: their facts, in order. cells: one row for each instancetype.
    wrong_labels: dictionaries with kind, name, and the fields of WrongLabel. deprecated_objects: `replacement.as_facts`
    of the objects that are not active.
    """

    instancetypes: list[Facts]
    preferences: list[Facts]
    cells: list[list[Cell]]
    wrong_labels: list[Facts]
    deprecated_objects: list[Facts]


def compatibility_matrix(manifests: Iterable[Manifest]) -> Matrix:
    """The matrix of all instancetypes and preferences among the manifests, for VMs without settings of their own.

    Instancetypes are ordered by series, vCPUs and memory, preferences by operating system and name. The architecture
    does not count, because the VM sets it. Raises FieldError.
    """
    objects: dict[MatcherField, list[Manifest]] = {INSTANCETYPE: [], PREFERENCE: []}
    for manifest in manifests:
        if matcher_field := MATCHER_FIELD_OF_KIND.get(manifest.get("kind", "")):
            objects[matcher_field].append(manifest)
    instancetypes = sorted(map(facts, objects[INSTANCETYPE]), key=_order)
    preferences = sorted(map(facts, objects[PREFERENCE]), key=lambda entry: (entry["os"], label(entry)))
    specs = [schema.canonical(PREFERENCE.spec_type, manifest["spec"]) for manifest in preferences]
    cells = [
        [_cell(schema.canonical(INSTANCETYPE.spec_type, size["spec"]), preference) for preference in specs]
        for size in instancetypes
    ]
    wrong = [
        {"kind": object_facts["kind"], "name": label(object_facts), **item._asdict()}
        for object_facts in (*instancetypes, *preferences)
        for item in wrong_labels(object_facts["kind"], object_facts["labels"], object_facts["spec"])
    ]
    deprecated_objects = [as_facts(item) for item in replacements([*objects[INSTANCETYPE], *objects[PREFERENCE]])]
    return Matrix(instancetypes, preferences, cells, wrong, deprecated_objects)


def as_data(matrix: Matrix) -> dict[str, Any]:
    """{instancetypes, preferences, matrix}: the facts, sorted by namespace and name; about the pairs
    {fits, incompatible, unsatisfied, wrong_labels, deprecated_objects}: instancetype → preferences that it
    satisfies; the pairs that do not fit, with the reasons; the preferences that nothing satisfies.
    """
    names = [label(object_facts) for object_facts in matrix.preferences]
    rows = list(zip(map(label, matrix.instancetypes), matrix.cells))
    pairs = {
        "fits": {row: [name for name, cell in zip(names, cells) if not cell.sign] for row, cells in rows},
        "incompatible": [
            {"instancetype": instancetype, "preference": name, "sign": cell.sign, "reasons": list(cell.reasons)}
            for instancetype, cells in rows
            for name, cell in zip(names, cells)
            if cell.sign
        ],
        "unsatisfied": unsatisfied(matrix),
        "wrong_labels": matrix.wrong_labels,
        "deprecated_objects": matrix.deprecated_objects,
    }
    return {
        "instancetypes": sorted(matrix.instancetypes, key=_place),
        "preferences": sorted(matrix.preferences, key=_place),
        "matrix": pairs,
    }


def from_data(data: Mapping[str, Any]) -> Matrix:
    """The matrix from the result of `as_data`. Raises FieldError."""
    return compatibility_matrix(map(manifest_of, (*data["instancetypes"], *data["preferences"])))


def unsatisfied(matrix: Matrix) -> list[str]:
    """The preferences that no instancetype satisfies; empty if there are no instancetypes."""
    if not matrix.instancetypes:
        return []
    columns = zip(matrix.preferences, zip(*matrix.cells))
    return [label(preference) for preference, column in columns if all(cell.sign for cell in column)]


def label(object_facts: Facts) -> str:
    """The name, after the namespace if any."""
    return "/".join(filter(None, _place(object_facts)))


def _order(instancetype: Facts) -> tuple[Any, ...]:
    return tuple(instancetype[name] for name in ("namespace", "series", "vcpus", "memory_bytes", "name"))


def _place(object_facts: Facts) -> tuple[str, str]:
    return object_facts["namespace"], object_facts["name"]


def _cell(instancetype: Manifest, preference: Manifest) -> Cell:
    """The compatibility of two canonical specs."""
    required = preference.get("requirements", {})
    missing: dict[str, str] = {}
    for part in ("cpu", "memory"):
        if part in required:
            try:
                requirements.check(instancetype, {**preference, "requirements": {part: required[part]}}, {})
            except KubeVirtError as error:
                missing[part] = error.message
    if missing:
        return Cell("b" if len(missing) > 1 else min(missing)[0], tuple(missing.values()))
    try:
        topology.check_spread(instancetype, preference)
    except KubeVirtError as error:
        return Cell("s", (error.message,))
    return Cell()
