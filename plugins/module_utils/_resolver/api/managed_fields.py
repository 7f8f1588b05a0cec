"""Which fields of an object a field manager declared, read from metadata.managedFields.

A field is a tuple of keys from the root. A list is one field: most are atomic in KubeVirt's schemas, and whoever owns
entries of one that is not, such as topologySpreadConstraints, owns the list here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .tree import copy

Field = tuple[str, ...]

# Part of every object, and never among its managed fields.
_IDENTITY = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}
_MISSING = object()


def leaves(value: Any, path: Field = ()) -> Iterator[tuple[Field, Any]]:
    """The fields of a manifest with their values: everything but objects with entries."""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from leaves(entry, (*path, key))
    else:
        yield path, value


def declared(manifest: dict[str, Any]) -> dict[Field, Any]:
    """What a manifest declares: its leaves except those that only name the object."""
    return {path: value for path, value in leaves(manifest) if path and path not in _IDENTITY}


def owned(live: dict[str, Any], manager: str) -> set[Field] | None:
    """The fields that the manager owns by server-side apply; None if it never applied the object."""
    return _managed(live, manager, "Apply")


def updated(live: dict[str, Any], manager: str) -> set[Field]:
    """The fields that a manager owns by other requests than server-side apply, the status aside."""
    return _managed(live, manager, "Update") or set()


def changed_at(live: dict[str, Any]) -> str:
    """When an object was last changed, its status aside; its creation where no manager says so. "" for never."""
    metadata = live.get("metadata") or {}
    times = [
        str(entry.get("time") or "") for entry in metadata.get("managedFields") or [] if not entry.get("subresource")
    ]
    # RFC 3339 in UTC, as API servers write it: the order of texts is the order of times.
    return max([*times, str(metadata.get("creationTimestamp") or "")])


def others(live: dict[str, Any], manager: str) -> list[tuple[str, set[Field]]]:
    """What other managers own, by whatever request, the status aside: (manager, fields)."""
    return [
        (str(entry.get("manager")), set(_fields(entry.get("fieldsV1") or {}, ())))
        for entry in live.get("metadata", {}).get("managedFields") or []
        if entry.get("manager") != manager and not entry.get("subresource")
    ]


def owners(managers: Iterable[tuple[str, set[Field]]], field: Field) -> tuple[str, ...]:
    """Those of the managers (see `others`) who own a field, a part of it, or what it is a part of."""
    return tuple(
        sorted({name for name, fields in managers if any(own[: len(field)] == field[: len(own)] for own in fields)})
    )


def _managed(live: dict[str, Any], manager: str, operation: str) -> set[Field] | None:
    for entry in live.get("metadata", {}).get("managedFields") or []:
        if entry.get("manager") == manager and entry.get("operation") == operation and not entry.get("subresource"):
            return set(_fields(entry.get("fieldsV1") or {}, ()))
    return None


def _fields(node: dict[str, Any], path: Field) -> Iterator[Field]:
    # `f:name` is a field; `k:{...}`, `v:...` and `i:...` are entries of a list.
    fields = {key[2:]: entry for key, entry in node.items() if key.startswith("f:")}
    if not fields and path:
        yield path
    for key, entry in fields.items():
        yield from _fields(entry, (*path, key))


def undeclared(owner: set[Field], desired: dict[Field, Any]) -> set[Field]:
    """Owned fields that the manifest no longer declares: applying it gives them up."""
    return {field for field in owner if not any(_covers(*entry, field) for entry in desired.items())}


def unclaimed(owner: set[Field], desired: dict[Field, Any]) -> set[Field]:
    """Declared fields that the manager does not own yet."""
    # An atomic object is owned as a whole, its declared parts with it.
    return {wanted for wanted in desired if not any(wanted[: len(field)] == field for field in owner)}


def _covers(wanted: Field, value: Any, field: Field) -> bool:
    """Whether declaring `wanted` declares the owned field: they are the same, or one is part of the other."""
    if len(field) > len(wanted):
        # An object declared as empty declares nothing in it.
        return value != {} and field[: len(wanted)] == wanted
    return wanted[: len(field)] == field


def put(target: dict[str, Any], field: Field, value: Any) -> None:
    """Sets a field, with the objects that lead to it."""
    for key in field[:-1]:
        if not isinstance(target.get(key), dict):
            target[key] = {}
        target = target[key]
    # An empty object only declares its presence; what others put into it stays.
    if value != {} or not isinstance(target.get(field[-1]), dict):
        target[field[-1]] = copy(value)


def take(target: dict[str, Any], field: Field) -> None:
    """Takes a field out, if it is there, and the objects around it that are then empty."""
    inside = target.get(field[0])
    if len(field) > 1 and isinstance(inside, dict):
        take(inside, field[1:])
    if len(field) == 1 or inside == {}:
        target.pop(field[0], None)


def lookup(value: Any, path: Field, default: Any = None) -> Any:
    """The value at a path, or the default."""
    for key in path:
        value = value.get(key, _MISSING) if isinstance(value, dict) else _MISSING
        if value is _MISSING:
            return default
    return value
