"""The language of catalogs: tables of instancetypes and families of preferences. `catalog` makes manifests of it.

A definition is a dict with any of these keys; the README of the role `common_instancetypes` teaches the language::

    labels, annotations   of every object
    series                name → what its sizes share, and `sizes`: name → one instancetype, called SERIES.SIZE
    families              name → what its preferences share, and `preferences`: name → one preference

Series, sizes, families and preferences are *entries*. An entry has labels, annotations and spec, short keys for the
commonest fields of these, and `extends`, the series or families that it builds upon. These go first, one over the
other, then its own content over them; a size or preference in turn goes over its series or family. "Over" is a JSON
merge patch (RFC 7386): objects are merged, a null removes, anything else replaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ..api.errors import FieldError
from ..api.matcher import INSTANCETYPE, PREFERENCE, Role
from ..api.names import nearest, shown
from ..api.tree import copy, merge
from .errors import CatalogError

Entry = dict[str, Any]


class Item(NamedTuple):
    """One object of a definition.

    spec: the raw spec, as the API has it. where: its place in the definition, such as ``series.u1.sizes.large``.
    """

    role: Role
    name: str
    labels: dict[str, Any]
    annotations: dict[str, Any]
    spec: dict[str, Any]
    where: str


class _Sort(NamedTuple):
    """groups: the key that holds the series (families). members: the key in these for sizes (preferences).

    columns: short key of an entry → the path that it stands for; a dot is for a key within an object.
    """

    role: Role
    groups: str
    members: str
    columns: dict[str, tuple[str, ...]]


_LABEL: Final = "instancetype.kubevirt.io/"
_OS: Final = ("annotations", "vm.kubevirt.io/os")

_SERIES: Final = _Sort(
    INSTANCETYPE,
    "series",
    "sizes",
    {
        "cpu": ("spec", "cpu", "guest"),
        "max_sockets": ("spec", "cpu", "maxSockets"),
        "memory": ("spec", "memory", "guest"),
        "hugepages": ("spec", "memory", "hugepages", "pageSize"),
        "display_name": ("annotations", f"{_LABEL}displayName"),
        "description": ("annotations", f"{_LABEL}description"),
    },
)
_FAMILIES: Final = _Sort(
    PREFERENCE,
    "families",
    "preferences",
    {
        "os": ("spec", *_OS),
        "requires.cpu": ("spec", "requirements", "cpu", "guest"),
        "requires.memory": ("spec", "requirements", "memory", "guest"),
        "requires.architecture": ("spec", "requirements", "architecture"),
        "display_name": ("annotations", "openshift.io/display-name"),
    },
)

# The labels that common-instancetypes derives from a spec, and where their values are.
_TEXT_LABELS: Final = {
    "cpu": ("cpu", "guest"),
    "memory": ("memory", "guest"),
    "hugepages": ("memory", "hugepages", "pageSize"),
    "os-type": _OS,
    "required-cpu": ("requirements", "cpu", "guest"),
    "required-memory": ("requirements", "memory", "guest"),
    "required-architecture": ("requirements", "architecture"),
    "arch": ("requirements", "architecture"),
    "preferred-architecture": ("preferredArchitecture",),
}
# Those that say "true" where the spec has the field.
_FLAG_LABELS: Final = {
    "dedicatedCPUPlacement": ("cpu", "dedicatedCPUPlacement"),
    "isolateEmulatorThread": ("cpu", "isolateEmulatorThread"),
    "numa": ("cpu", "numa"),
    "realtime": ("cpu", "realtime"),
}


def items(definition: dict[str, Any]) -> Iterator[Item]:
    """The objects of a definition, in its order, with derived labels; a label of the definition replaces these, and a
    null removes them.

    Raises CatalogError for unknown keys, wrong types, parents that do not exist and circles. The specs are not checked.
    """
    _check_keys(definition, ("labels", "annotations", _SERIES.groups, _FAMILIES.groups), "the catalog")
    common = {key: _object(definition, key, "the catalog") for key in ("labels", "annotations")}
    for sort in (_SERIES, _FAMILIES):
        groups = _entries(definition, sort.groups, "the catalog")
        for group, content in groups.items():
            where = f"{sort.groups}.{group}"
            shared = _over(common, sort, groups, content, where, (group,))
            for member, entry in _entries(content, sort.members, where).items():
                place = f"{where}.{sort.members}.{member}"
                item = _over(shared, sort, groups, entry, place, ())
                derived = _derived_labels(item["spec"])
                if sort is _SERIES:
                    derived[f"{_LABEL}size"] = member
                yield Item(
                    sort.role,
                    f"{group}.{member}" if sort is _SERIES else member,
                    _without_nulls({**derived, **item["labels"]}),
                    _without_nulls(item["annotations"]),
                    item["spec"],
                    place,
                )


def _over(
    base: Entry, sort: _Sort, groups: dict[str, Entry], entry: Entry, where: str, above: tuple[str, ...]
) -> Entry:
    """An entry, after those that it extends, over a base: labels, annotations and spec.

    above: the groups that led here by `extends`, for finding circles; empty for a size or preference.
    """
    _check_keys(entry, (*_keys(sort), sort.members) if above else _keys(sort), where)
    extends = entry.get("extends") or []
    for parent in extends if isinstance(extends, list) else [extends]:
        if not isinstance(parent, str) or parent not in groups:
            raise CatalogError(f"{where}: extends: {shown(parent)} is not in {sort.groups}{nearest(parent, groups)}")
        if parent in above:
            circle = " > ".join((*above, parent))
            raise CatalogError(f"{where}: extends: {circle} is a cycle; remove one of these references")
        base = _over(base, sort, groups, groups[parent], f"{sort.groups}.{parent}", (*above, parent))
    own = _own(sort, entry, where)
    # A null among the labels stays until the derived labels are known: it removes these too.
    return {**_overlay(base, own), "labels": {**base["labels"], **own["labels"]}}


def _own(sort: _Sort, entry: Entry, where: str) -> Entry:
    """An entry's own labels, annotations and spec, with what its short keys say."""
    own = {key: copy(_object(entry, key, where)) for key in ("labels", "annotations", "spec")}
    given = {**entry, **{f"requires.{key}": value for key, value in _object(entry, "requires", where).items()}}
    _check_keys({key: None for key in given if key.startswith("requires.")}, tuple(sort.columns), where)
    for column, path in sort.columns.items():
        if column in given:
            value = given[column]
            for key in reversed(path):
                value = {key: value}
            try:
                merge(own, value)
            except FieldError as error:
                raise CatalogError(f"{where}: {column}: {error}") from error
    return own


def _overlay(base: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """A JSON merge patch applied to a new dict."""
    result = dict(base)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = result.get(key)
            result[key] = _overlay(below if isinstance(below, dict) else {}, value)
        else:
            result[key] = value
    return result


def _derived_labels(spec: dict[str, Any]) -> dict[str, str]:
    texts = {label: _at(spec, path) for label, path in _TEXT_LABELS.items()}
    labels = {f"{_LABEL}{label}": str(value) for label, value in texts.items() if value is not None}
    for label, path in _FLAG_LABELS.items():
        if _at(spec, path) not in (None, False):
            labels[f"{_LABEL}{label}"] = "true"
    return labels


def _without_nulls(entries: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value is not None}


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _keys(sort: _Sort) -> tuple[str, ...]:
    short = dict.fromkeys(column.partition(".")[0] for column in sort.columns)
    return (*short, "labels", "annotations", "spec", "extends")


def _check_keys(entry: Entry, known: tuple[str, ...], where: str) -> None:
    for key in entry:
        if key not in known:
            raise CatalogError(f"{where}: unknown key {shown(key)}{nearest(key, known)}")


def _object(entry: Entry, key: str, where: str) -> dict[str, Any]:
    value = entry.get(key)
    if value is not None and not isinstance(value, dict):
        raise CatalogError(f"{where}: {key}: expected an object, found {shown(value)}; write it as key: value")
    return value or {}


def _entries(parent: Entry, key: str, where: str) -> dict[str, Entry]:
    """The entries below a key; one with nothing to say may be null."""
    found = _object(parent, key, where)
    for name in found:
        if not isinstance(name, str):
            raise CatalogError(f"{where}: {key}: expected text as name, found {shown(name)}; put it in quotes")
        _object(found, name, f"{where}: {key}")
    return {name: entry or {} for name, entry in found.items()}
