"""Which instancetype satisfies which preference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..api import schema
from ..api.errors import Crash
from ..api.matcher import INSTANCETYPE, PREFERENCE, ROLE_OF_KIND
from ..kubevirt.apply import requirements, topology
from .facts import facts

Manifest = dict[str, Any]
Facts = dict[str, Any]

# The meaning of a cell's sign; a pair that fits has none.
LEGEND: Final = {
    "c": "too few vCPUs",
    "m": "too little memory",
    "b": "too few vCPUs and too little memory",
    "s": "the vCPUs cannot be spread as preferred",
}


class Cell(NamedTuple):
    """sign: a key of LEGEND, "" if the pair fits. reasons: in KubeVirt's words."""

    sign: str = ""
    reasons: tuple[str, ...] = ()


class Matrix(NamedTuple):
    """instancetypes, preferences: their facts, in order. cells: one row for each instancetype."""

    instancetypes: list[Facts]
    preferences: list[Facts]
    cells: list[list[Cell]]


def matrix(manifests: Iterable[Manifest]) -> Matrix:
    """The matrix of all instancetypes and preferences among the manifests, for VMs without settings of their own.

    Instancetypes are ordered by series, vCPUs and memory, preferences by operating system and name. The architecture
    does not count, because the VM sets it. Raises schema.FieldError.
    """
    manifests = list(manifests)
    sizes = sorted((facts(one) for one in _of(manifests, INSTANCETYPE)), key=_size)
    systems = sorted((facts(one) for one in _of(manifests, PREFERENCE)), key=lambda one: (one["os"], label(one)))
    specs = [schema.canonical(PREFERENCE.spec_type, one["spec"]) for one in systems]
    cells = [
        [_cell(schema.canonical(INSTANCETYPE.spec_type, size["spec"]), preference) for preference in specs]
        for size in sizes
    ]
    return Matrix(sizes, systems, cells)


def as_data(found: Matrix) -> dict[str, Any]:
    """{instancetypes, preferences, fits, misses}: the facts without specs; instancetype → preferences that it
    satisfies; and the pairs that do not fit, with the reasons.
    """
    names = [label(one) for one in found.preferences]
    rows = list(zip(found.instancetypes, found.cells))
    return {
        "instancetypes": [_short(one) for one in found.instancetypes],
        "preferences": [_short(one) for one in found.preferences],
        "fits": {label(one): [name for name, cell in zip(names, cells) if not cell.sign] for one, cells in rows},
        "misses": [
            {"instancetype": label(one), "preference": name, "sign": cell.sign, "reasons": list(cell.reasons)}
            for one, cells in rows
            for name, cell in zip(names, cells)
            if cell.sign
        ],
    }


def from_data(data: Mapping[str, Any]) -> Matrix:
    """The matrix from the result of `as_data`, without specs."""
    missed = {
        (one["instancetype"], one["preference"]): Cell(one["sign"], tuple(one["reasons"])) for one in data["misses"]
    }
    rows, columns = list(data["instancetypes"]), list(data["preferences"])
    return Matrix(
        rows, columns, [[missed.get((label(row), label(column)), Cell()) for column in columns] for row in rows]
    )


def unsatisfied(found: Matrix) -> list[str]:
    """The preferences that no instancetype satisfies; empty if there are no instancetypes."""
    if not found.instancetypes:
        return []
    columns = zip(*found.cells)
    return [label(one) for one, column in zip(found.preferences, columns) if all(cell.sign for cell in column)]


def label(one: Facts) -> str:
    """The name, after the namespace if any."""
    return f"{one['namespace']}/{one['name']}" if one["namespace"] else str(one["name"])


def _of(manifests: list[Manifest], role: Any) -> list[Manifest]:
    return [one for one in manifests if ROLE_OF_KIND.get(one.get("kind", "")) is role]


def _size(one: Facts) -> tuple[Any, ...]:
    return one["namespace"], one["series"], one["vcpus"], one["memory_bytes"], one["name"]


def _cell(instancetype: Manifest, preference: Manifest) -> Cell:
    required = preference.get("requirements", {})
    short: dict[str, str] = {}
    for part in ("cpu", "memory"):
        if part in required:
            unmet = requirements.unmet(instancetype, {**preference, "requirements": {part: required[part]}}, {})
            if unmet is not None:
                short[part] = unmet.message
    if short:
        return Cell("b" if len(short) > 1 else min(short)[0], tuple(short.values()))
    try:
        uneven = topology.spread_indivisible(instancetype, preference)
    except Crash as crash:
        return Cell("s", (str(crash),))
    return Cell() if uneven is None else Cell("s", (uneven.message,))


def _short(one: Facts) -> Facts:
    left_out = ("spec", "labels", "annotations", "generation")
    return {name: value for name, value in one.items() if name not in left_out}
