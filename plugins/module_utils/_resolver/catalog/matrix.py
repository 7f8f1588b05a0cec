"""The compatibility of instancetypes with preferences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..api import schema
from ..api.errors import Panic
from ..api.manifest import Manifest
from ..api.matcher import INSTANCETYPE, PREFERENCE, ROLE_OF_KIND, Role
from ..kubevirt.apply import requirements, topology
from .facts import facts, manifest_of
from .labels import wrong_labels
from .replacement import as_facts, replacements

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

    sign: a key of LEGEND, "" if the pair fits. reasons: in KubeVirt's words.
    """

    sign: str = ""
    reasons: tuple[str, ...] = ()


class Matrix(NamedTuple):
    """The compatibility of all instancetypes and preferences.

    instancetypes, preferences: their facts, in order. cells: one row for each instancetype.
    wrong_labels: dictionaries with kind, name, and the fields of WrongLabel. states: `replacement.as_facts` of the
    objects that are not active.
    """

    instancetypes: list[Facts]
    preferences: list[Facts]
    cells: list[list[Cell]]
    wrong_labels: list[Facts]
    states: list[Facts]


def compatibility_matrix(manifests: Iterable[Manifest]) -> Matrix:
    """The matrix of all instancetypes and preferences among the manifests, for VMs without settings of their own.

    Instancetypes are ordered by series, vCPUs and memory, preferences by operating system and name. The architecture
    does not count, because the VM sets it. Raises schema.FieldError.
    """
    manifests = list(manifests)
    instancetypes = sorted((facts(manifest) for manifest in _with_role(manifests, INSTANCETYPE)), key=_order)
    preferences = sorted(
        (facts(manifest) for manifest in _with_role(manifests, PREFERENCE)),
        key=lambda manifest: (manifest["os"], label(manifest)),
    )
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
    objects = [*_with_role(manifests, INSTANCETYPE), *_with_role(manifests, PREFERENCE)]
    return Matrix(instancetypes, preferences, cells, wrong, [as_facts(item) for item in replacements(objects)])


def as_data(matrix: Matrix) -> dict[str, Any]:
    """{instancetypes, preferences, matrix}: the facts, sorted by namespace and name; about the pairs
    {fits, incompatible, unsatisfied, wrong_labels, states}: instancetype → preferences that it satisfies; the pairs
    that do not fit, with the reasons; the preferences that nothing satisfies.
    """
    names = [label(object_facts) for object_facts in matrix.preferences]
    rows = list(zip(map(label, matrix.instancetypes), matrix.cells))
    pairs = {
        "fits": {
            instancetype: [name for name, cell in zip(names, cells) if not cell.sign] for instancetype, cells in rows
        },
        "incompatible": [
            {"instancetype": instancetype, "preference": name, "sign": cell.sign, "reasons": list(cell.reasons)}
            for instancetype, cells in rows
            for name, cell in zip(names, cells)
            if cell.sign
        ],
        "unsatisfied": unsatisfied(matrix),
        "wrong_labels": matrix.wrong_labels,
        "states": matrix.states,
    }
    return {
        "instancetypes": sorted(matrix.instancetypes, key=_place),
        "preferences": sorted(matrix.preferences, key=_place),
        "matrix": pairs,
    }


def from_data(data: Mapping[str, Any]) -> Matrix:
    """The matrix from the result of `as_data`. Raises schema.FieldError."""
    return compatibility_matrix(map(manifest_of, (*data["instancetypes"], *data["preferences"])))


def unsatisfied(matrix: Matrix) -> list[str]:
    """The preferences that no instancetype satisfies; empty if there are no instancetypes."""
    if not matrix.instancetypes:
        return []
    columns = zip(*matrix.cells)
    return [
        label(preference)
        for preference, column in zip(matrix.preferences, columns)
        if all(cell.sign for cell in column)
    ]


def label(object_facts: Facts) -> str:
    """The name, after the namespace if any."""
    return "/".join(filter(None, _place(object_facts)))


def _with_role(manifests: list[Manifest], role: Role) -> list[Manifest]:
    return [manifest for manifest in manifests if ROLE_OF_KIND.get(manifest.get("kind", "")) is role]


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
            unmet = requirements.unmet(instancetype, {**preference, "requirements": {part: required[part]}}, {})
            if unmet is not None:
                missing[part] = unmet.message
    if missing:
        return Cell("b" if len(missing) > 1 else min(missing)[0], tuple(missing.values()))
    try:
        uneven = topology.spread_indivisible(instancetype, preference)
    except Panic as panic:
        return Cell("s", (str(panic),))
    return Cell() if uneven is None else Cell("s", (uneven.message,))
