"""The fields of an object that a field manager declared, from metadata.managedFields.

A field is a tuple of keys from the root. A list counts as one field: most lists in KubeVirt's schemas are atomic. For
one that is not, such as topologySpreadConstraints, the owner of an item owns the list here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .tree import leaves, set_at, value_at

FieldPath = tuple[str, ...]

TakeOver = Callable[[str], bool]
"""Whether to take over the fields of a manager."""

# In every object, and never among its managed fields; and the root of an empty manifest.
_IDENTITY = {(), ("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}


def keep_managers(_manager: str) -> bool:
    """Takes over no manager's fields."""
    return False


def is_inside(field: FieldPath, parent: FieldPath) -> bool:
    """Whether a field is another field or a part of it."""
    return field[: len(parent)] == parent


def leaf_fields(manifest: dict[str, Any]) -> dict[FieldPath, Any]:
    """The fields that a manifest declares: its leaves, except the identity of the object."""
    fields = leaves(manifest)
    for path in _IDENTITY:
        fields.pop(path, None)
    return fields


def entries(live: dict[str, Any]) -> list[dict[str, Any]]:
    """The managed fields of an object outside its status: an entry for each manager and type of request."""
    return [entry for entry in (live.get("metadata") or {}).get("managedFields") or [] if not entry.get("subresource")]


def applied_fields(live: dict[str, Any], manager: str) -> set[FieldPath] | None:
    """The fields that the manager owns by server-side apply; None if it never applied the object."""
    return _managed(live, manager, "Apply")


def applied_part(live: dict[str, Any], manager: str) -> dict[str, Any]:
    """The fields that the manager has applied, with their present values: applied again, they change nothing."""
    metadata = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    result = {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata}
    for field in sorted(applied_fields(live, manager) or ()):
        if (value := value_at(live, field)) is not None:
            set_at(result, field, value)
    return result


def updated_fields(live: dict[str, Any], manager: str) -> set[FieldPath]:
    """The fields outside the status that a manager owns by requests other than server-side apply."""
    return _managed(live, manager, "Update") or set()


def changed_at(live: dict[str, Any]) -> str:
    """When an object last changed outside its status; without managed fields, when it was created. "" if unknown."""
    created = (live.get("metadata") or {}).get("creationTimestamp")
    # RFC 3339 in UTC, as API servers write it: texts sort like times.
    return max(str(time or "") for time in (created, *(entry.get("time") for entry in entries(live))))


def written_at(live: dict[str, Any], part: str) -> str:
    """When the managers that own fields of a part of an object, such as its spec, last wrote; "" if unknown."""
    times = (str(entry.get("time") or "") for entry in entries(live) if f"f:{part}" in (entry.get("fieldsV1") or {}))
    return max(times, default="")


def fields_of_others(live: dict[str, Any], manager: str) -> list[tuple[str, set[FieldPath]]]:
    """The fields outside the status that other managers own: (manager, fields)."""
    return [
        (str(entry.get("manager")), _fields(entry.get("fieldsV1") or {}))
        for entry in entries(live)
        if entry.get("manager") != manager
    ]


def managers_of_others(live: dict[str, Any], manager: str) -> list[str]:
    """The other managers of fields outside the status."""
    return [str(entry.get("manager")) for entry in entries(live) if entry.get("manager") != manager]


def applying_managers(live: dict[str, Any], manager: str) -> list[str]:
    """The other managers that declare fields of an object by server-side apply."""
    return [
        str(entry.get("manager"))
        for entry in entries(live)
        if entry.get("operation") == "Apply" and entry.get("manager") != manager
    ]


def owners(managers: Iterable[tuple[str, set[FieldPath]]], field: FieldPath) -> tuple[str, ...]:
    """The managers (see `fields_of_others`) that own a field, a part of it, or a parent of it."""
    return tuple(
        sorted(
            {name for name, fields in managers if any(is_inside(own, field) or is_inside(field, own) for own in fields)}
        )
    )


def sharers(managers: Iterable[tuple[str, set[FieldPath]]], field: FieldPath) -> tuple[str, ...]:
    """The managers (see `fields_of_others`) that own a field of ours or a part of it.

    A parent that they own is an object without contents of theirs: of an atomic one, we would own the whole too.
    """
    return tuple(sorted({name for name, fields in managers if any(is_inside(own, field) for own in fields)}))


def _managed(live: dict[str, Any], manager: str, operation: str) -> set[FieldPath] | None:
    for entry in entries(live):
        if (entry.get("manager"), entry.get("operation")) == (manager, operation):
            return _fields(entry.get("fieldsV1") or {})
    return None


def _fields(node: dict[str, Any]) -> set[FieldPath]:
    fields: set[FieldPath] = set()
    _put_fields(fields, node, ())
    fields.discard(())
    return fields


def _put_fields(fields: set[FieldPath], node: dict[str, Any], path: FieldPath) -> None:
    inside = False
    for key, entry in node.items():
        # `f:name` is a field; `k:{...}`, `v:...` and `i:...` are list items.
        if key.startswith("f:"):
            inside = True
            _put_fields(fields, entry, (*path, key[2:]))
    if not inside:
        fields.add(path)


def undeclared(owned_fields: set[FieldPath], desired: dict[FieldPath, Any]) -> set[FieldPath]:
    """Owned fields that the manifest no longer declares; applying it gives them up."""
    return {
        field for field in owned_fields - desired.keys() if not any(_covers(*entry, field) for entry in desired.items())
    }


def unowned_fields(owned_fields: set[FieldPath], desired: dict[FieldPath, Any]) -> set[FieldPath]:
    """Declared fields that the manager does not own yet."""
    # The owner of an atomic object owns the declared parts too.
    return {field for field in desired.keys() - owned_fields if not any(is_inside(field, own) for own in owned_fields)}


def _covers(declared_field: FieldPath, value: Any, field: FieldPath) -> bool:
    """Whether declaring `declared_field` declares the owned field: they are equal, or one is a part of the other."""
    # An object declared as empty declares nothing inside.
    return is_inside(declared_field, field) or (value != {} and is_inside(field, declared_field))
