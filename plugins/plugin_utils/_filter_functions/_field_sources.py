"""The source of each field of an expanded VM: the VM, its instancetype, its preference or the cluster's defaults.

This module contains no rules of KubeVirt. It expands the VM with and without each source and compares the results: a
field comes from the source without which it would have another value.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final, NamedTuple, Optional

from ...module_utils._columns import aligned
from ...module_utils._resolver.api import release_schema, schema
from ...module_utils._resolver.api.errors import KubeVirtError
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.api.tree import copy
from ...module_utils._resolver.kubevirt.cluster import KubeVirt
from ...module_utils._resolver.kubevirt.instancetype import applier
from ...module_utils._resolver.kubevirt.instancetype.conflict import ConflictError
from ...module_utils._resolver.kubevirt.vm import expand as expansion

VM: Final = "VM"
INSTANCETYPE: Final = "instancetype"
PREFERENCE: Final = "preference"
DEFAULT: Final = "default"

Spec = Optional[dict[str, Any]]
Path = tuple[Any, ...]
Leaves = dict[Path, Any]

_TEMPLATE: Final = "VirtualMachineInstanceTemplateSpec"
_MISSING: Final = object()


class Alternative(NamedTuple):
    """A field and the value that it would have without the row's source; mostly the same field."""

    field: str
    value: Any
    source: str


class FieldSource(NamedTuple):
    """One field.

    field: its path from the template (``spec.domain.cpu.sockets``). value: None for a field that the source removed.
    source: VM, INSTANCETYPE, PREFERENCE or DEFAULT. vCPUs that the preference distributes count as the preference's.
    instead_of: the values that the source overrode or displaced.
    """

    field: str
    value: Any
    source: str
    instead_of: tuple[Alternative, ...]


def explain(template: dict[str, Any], instancetype: Spec, preference: Spec, release: Release) -> list[FieldSource]:
    """The fields of a VM's expanded template, ordered by path.

    template: the VM's own, plain. instancetype, preference: canonical specs or None; without both, no defaults are set
    (as in expand-spec). Empty objects that every template has are left out.
    Raises KubeVirtError for a VM that cannot be expanded, and FieldError for a template that does not match the schema.
    """
    expanded = partial(_Expansion, release=release, sets_defaults=(instancetype, preference) != (None, None))
    outcome = expanded(template, instancetype, preference)
    if outcome.problem is not None:
        raise outcome.problem
    without_source = {
        INSTANCETYPE: expanded(template, None, preference),
        PREFERENCE: expanded(template, instancetype, None),
    }
    rows = []
    for path in outcome.paths():
        source = outcome.source(path)
        if source == VM:
            without = expanded(_without(outcome.own, path), instancetype, preference)
            instead = _instead_of_vm(outcome, without, path)
        elif source in without_source:
            instead = _alternatives(outcome, without_source[source], [path])
        else:
            instead = ()
        value = outcome.full.get(path)
        rows.append(FieldSource(_text(path), value, source, instead))
    return rows


class _Expansion:
    """The expansion of a template, and expansions of it without some of the sources.

    sets_defaults: false for a VM with neither instancetype nor preference.
    """

    def __init__(
        self, template: dict[str, Any], instancetype: Spec, preference: Spec, *, release: Release, sets_defaults: bool
    ) -> None:
        self.own = schema.as_declared(_TEMPLATE, template)
        self._specs = instancetype, preference
        self._release, self._sets_defaults = release, sets_defaults
        self.problem: KubeVirtError | None = None
        self.full = self._expanded(instancetype, preference)
        self._parts: tuple[Leaves, ...] | None = None

    def paths(self) -> list[Path]:
        """The fields to list: all fields of the expansion, and the VM's fields that the expansion removed."""
        blank = _leaves(self._canonical({}))
        own_leaves, written = _leaves(self.own), self.written()
        shown = [
            path for path, value in self.full.items() if path in own_leaves or written.get(path, _MISSING) != value
        ]
        parents = {path[:length] for path in self.full for length in range(len(path) + 1)}
        # Removing an empty object, such as a nodeSelector, changes nothing.
        removed = [
            path for path, value in written.items() if path in own_leaves and path not in parents and value != {}
        ]
        return sorted((path for path in shown + removed if path not in blank), key=_order)

    def source(self, path: Path) -> str:
        """The source of a field's value; for a removed field, the source that removed it."""
        if self._parts is None:
            instancetype, preference = self._specs
            self._parts = (
                _leaves(self.own),
                self._applied(instancetype, None),
                self._applied(instancetype, preference),
                self._expanded(instancetype, None),
            )
        own_leaves, with_instancetype, with_both, without_preference = self._parts
        value = self.full.get(path, _MISSING)
        if own_leaves.get(path, _MISSING) == value:
            return VM
        if with_instancetype.get(path, _MISSING) == value:
            return INSTANCETYPE
        if with_both.get(path, _MISSING) == value:
            return PREFERENCE
        if without_preference.get(path, _MISSING) == value:
            return DEFAULT
        # The preference changed an object that only the defaults add, such as a disk for a volume.
        return PREFERENCE

    def _applied(self, instancetype: Spec, preference: Spec) -> Leaves:
        template, release = self._canonical(self.own), self._release
        # KubeVirt did not panic on the full template, so it does not panic on a part of it.
        try:
            applier.apply_in_place(template["metadata"], template["spec"], instancetype, preference, release)
        except ConflictError:
            return {}
        return _leaves(template)

    def written(self) -> Leaves:
        """The VM's own fields, with the empty ones that Go always writes."""
        return _leaves(self._canonical(self.own))

    def _canonical(self, template: dict[str, Any]) -> dict[str, Any]:
        return release_schema.canonical(_TEMPLATE, template, self._release)

    def _expanded(self, instancetype: Spec, preference: Spec) -> Leaves:
        if not self._sets_defaults:
            return self._applied(None, None)
        template = self._canonical(self.own)
        try:
            expansion.apply_defaults(template, instancetype, preference, KubeVirt(self._release))
        except KubeVirtError as error:
            self.problem = error
            return {}
        return _leaves(template)


def _instead_of_vm(outcome: _Expansion, without: _Expansion, path: Path) -> tuple[Alternative, ...]:
    """The alternatives without the VM's field, including other fields: without the VM's BIOS, a preferred EFI
    appears.
    """
    written = without.written()
    # The template would be invalid without a required field.
    if path in written:
        return ()
    appeared = [other for other in without.full if other not in outcome.full and other not in written]
    return _alternatives(outcome, without, [path, *sorted(set(appeared) - {path}, key=_order)])


def _alternatives(outcome: _Expansion, without: _Expansion, paths: list[Path]) -> tuple[Alternative, ...]:
    return tuple(
        Alternative(_text(path), without.full[path], without.source(path))
        for path in paths
        if path in without.full and without.full[path] != outcome.full.get(path, _MISSING)
    )


def _leaves(value: Any, path: Path = ()) -> Leaves:
    """All fields with their values, except objects with entries and lists of objects."""
    entries: Any = ()
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        entries = enumerate(value)
    result: Leaves = {}
    for key, entry in entries:
        result.update(_leaves(entry, (*path, key)))
    return result if entries else {path: value}


def _without(template: dict[str, Any], path: Path) -> dict[str, Any]:
    """A copy without a field, and without the objects that become empty."""
    result = copy(template)
    holders: list[Any] = [result]
    for key in path[:-1]:
        holders.append(holders[-1][key])
    for holder, key in zip(reversed(holders), reversed(path)):
        if not isinstance(holder, dict):
            break
        del holder[key]
        if holder:
            break
    return result


def _order(path: Path) -> tuple[tuple[bool, Any], ...]:
    return tuple((isinstance(key, int), key) for key in path)


def _text(path: Path) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)[1:]


def table(rows: list[FieldSource]) -> list[str]:
    """The rows as text with aligned columns."""
    cells = [("FIELD", "VALUE", "SOURCE", "INSTEAD OF")]
    for row in rows:
        removed = row.value is None
        instead = "; ".join(_alternative_text(row, other) for other in row.instead_of)
        cells.append((row.field, "(removed)" if removed else _json(row.value), row.source, instead))
    return aligned(cells)


def _alternative_text(row: FieldSource, other: Alternative) -> str:
    field = "" if other.field == row.field else f"{other.field} "
    return f"{field}{_json(other.value)} ({other.source})"


def _json(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)
