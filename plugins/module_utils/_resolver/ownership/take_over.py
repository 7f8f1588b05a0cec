"""Takes over fields from the managers that created an object before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..api.managed_fields import FieldPath, TakeOver, entries, is_inside, keep_managers
from ..api.manifest import Manifest
from ..api.name_rules import quoted
from ..api.tree import copy, escaped, overlaid
from ..secrets.secret_texts import LAST_APPLIED
from .writers import TOOLS

_CLIENT_SIDE_APPLY: Final = "kubectl-client-side-apply"


def parse_take_over(option: Any) -> TakeOver:
    """The function that the option `take_over` (true, or a list of field managers) means: manager → take over its
    fields.

    Raises ValueError for other values.
    """
    if option in (None, False, "", []) or str(option).lower() in ("false", "no"):
        return keep_managers
    if option is True or str(option).lower() in ("true", "yes"):
        return lambda manager: manager.startswith(TOOLS)
    names = [option] if isinstance(option, str) else option
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"take_over: expected true or a list of field managers, found {quoted(option)}")
    return lambda manager: manager in names


def owners_to_take(live: Manifest, fields: Mapping[FieldPath, Any], own: str, take_over: TakeOver) -> tuple[str, ...]:
    """The managers to take over that own some of the fields.

    fields: field → its declared value; None for fields that are no longer declared.
    """
    owners = (
        manager
        for entry in entries(live)
        if (manager := str(entry.get("manager"))) != own and take_over(manager)
        if _without(entry.get("fieldsV1") or {}, (), fields)[1]
    )
    return tuple(dict.fromkeys(owners))


def patch(live: Manifest, fields: Mapping[FieldPath, Any], own: str, managers: tuple[str, ...]) -> list[Manifest]:
    """A JSON patch that transfers fields of other managers to our own; a server-side apply follows.

    It changes no value, and fails if the object has changed. For kubectl's client-side apply it also removes the
    annotation last-applied-configuration, which would make a later `kubectl apply` remove fields.
    """
    metadata = live["metadata"]
    result: list[Manifest] = []
    moved_set: Manifest = {}
    our_entry: Manifest | None = None
    for entry in metadata.get("managedFields") or []:
        if entry.get("subresource") or entry.get("manager") not in (*managers, own):
            result.append(entry)
        elif entry.get("manager") == own:
            result.append(copy(entry))
            our_entry = result[-1] if entry.get("operation") == "Apply" else our_entry
        else:
            remaining, moved_fields = _without(entry.get("fieldsV1") or {}, (), fields)
            for field in moved_fields:
                target = moved_set
                for key in field:
                    # Items of lists that are not atomic keep their own prefix.
                    target = target.setdefault(key if key[:2] in ("k:", "v:") else f"f:{key}", {})
            if remaining:
                result.append({**entry, "fieldsV1": remaining})
    if our_entry is None:
        our_entry = {"manager": own, "operation": "Apply", "apiVersion": live["apiVersion"], "fieldsType": "FieldsV1"}
        result.append(our_entry)
    our_entry["fieldsV1"] = overlaid(our_entry.get("fieldsV1") or {}, moved_set)
    operations: list[Manifest] = [
        {"op": "replace", "path": "/metadata/managedFields", "value": result},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata.get("resourceVersion", "")},
    ]
    if _CLIENT_SIDE_APPLY in managers and LAST_APPLIED in (metadata.get("annotations") or {}):
        operations.append({"op": "remove", "path": f"/metadata/annotations/{escaped(LAST_APPLIED)}"})
    return operations


def _without(node: Manifest, path: FieldPath, fields: Mapping[FieldPath, Any]) -> tuple[Manifest, list[FieldPath]]:
    """A set of managed fields without the given fields, and the removed ones."""
    remaining: Manifest = {}
    removed: list[FieldPath] = []
    for key, entry in node.items():
        owned = (*path, key[2:]) if key.startswith("f:") else (*path, key)
        if key == ".":
            remaining[key] = entry
        elif _covered(owned, fields, is_leaf=not set(entry) - {"."}):
            removed += [(*owned, *leaf) for leaf in _leaves(entry)]
        else:
            inner_fields = {field: value for field, value in fields.items() if is_inside(field, owned)}
            inner_remaining, inner_removed = _without(entry, owned, inner_fields) if inner_fields else (entry, [])
            removed += inner_removed
            # A manager without fields in an object does not own the object.
            if not inner_removed or set(inner_remaining) - {"."}:
                remaining[key] = inner_remaining
    return (remaining if set(remaining) - {"."} or path else {}), removed


def _covered(owned: FieldPath, fields: Mapping[FieldPath, Any], is_leaf: bool) -> bool:
    """Whether a managed field is one of the fields, is inside one, or contains one and is owned as a whole.

    An object declared as empty declares nothing inside.
    """
    for field, value in fields.items():
        if is_inside(owned, field) and (value != {} or (is_leaf and owned == field)):
            return True
        if is_leaf and is_inside(field, owned):
            return True
    return False


def _leaves(node: Manifest) -> Iterator[FieldPath]:
    entries = {key: entry for key, entry in node.items() if key != "."}
    if not entries:
        yield ()
    for key, entry in entries.items():
        for leaf in _leaves(entry):
            yield (key[2:] if key.startswith("f:") else key, *leaf)
