"""Which instancetypes and preferences fit together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from .._resolver.api import schema
from .._resolver.api.errors import KubeVirtError
from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE, MatcherField
from .._resolver.catalog.facts import Facts, facts, manifest_of, place
from .._resolver.catalog.labels import wrong_labels
from .._resolver.kubevirt.instancetype import requirements, topology
from .replacement import as_facts, replacements

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


def pairs(matrix: Matrix) -> dict[str, Any]:
    """{fits, incompatible, unsatisfied, wrong_labels, deprecated_objects}: instancetype → preferences that it
    satisfies; the pairs that do not fit, with the reasons; the preferences that nothing satisfies.
    """
    names = [label(object_facts) for object_facts in matrix.preferences]
    rows = list(zip(map(label, matrix.instancetypes), matrix.cells))
    return {
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


def as_data(matrix: Matrix) -> dict[str, Any]:
    """{instancetypes, preferences, matrix}, as catalog_info returns them."""
    return {
        "instancetypes": sorted(matrix.instancetypes, key=place),
        "preferences": sorted(matrix.preferences, key=place),
        "matrix": pairs(matrix),
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
    return "/".join(filter(None, place(object_facts)))


def _order(instancetype: Facts) -> tuple[Any, ...]:
    return tuple(instancetype[name] for name in ("namespace", "series", "vcpus", "memory_bytes", "name"))


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
