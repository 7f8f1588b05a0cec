"""Takes over fields from the managers that created an object before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..api.managed_fields import Field
from ..api.names import shown
from ..api.redaction import LAST_APPLIED
from ..api.tree import copy

Manifest = dict[str, Any]
TakeOver = Callable[[str], bool]

# Prefixes of the names of tools that declare an object once. A client uses its program's name, for example
# virtctl-v1.9.0-linux-amd64.
TOOLS: Final = (
    "kubectl-client-side-apply",
    "kubectl-create",
    "kubectl-edit",
    "kubectl-patch",
    "kubectl-replace",
    "kubectl-virt",
    "virtctl",
    "OpenAPI-Generator",
    "Terraform",
    "terraform-provider",
    "HashiCorp",
)
_APPLIED: Final = "kubectl-client-side-apply"


def nobody(_manager: str) -> bool:
    """Takes over no manager's fields."""
    return False


def whose(option: Any) -> TakeOver:
    """The function that the option `take_over` (true, or a list of field managers) means: manager → take over its
    fields.

    Raises ValueError for other values.
    """
    if option in (None, False, "", []) or str(option).lower() in ("false", "no"):
        return nobody
    if option is True or str(option).lower() in ("true", "yes"):
        return lambda manager: manager.startswith(TOOLS)
    names = [option] if isinstance(option, str) else option
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"take_over: expected true or a list of field managers, found {shown(option)}")
    return lambda manager: manager in names


def holders(live: Manifest, fields: Mapping[Field, Any], own: str, take_over: TakeOver) -> tuple[str, ...]:
    """The managers to take over that own some of the fields.

    fields: with their declared values; None for fields that are no longer declared.
    """
    if take_over is nobody:
        return ()
    return tuple(
        dict.fromkeys(
            str(entry.get("manager"))
            for entry in _entries(live, own, take_over)
            if _without(entry.get("fieldsV1") or {}, (), fields)[1]
        )
    )


def patch(live: Manifest, fields: Mapping[Field, Any], own: str, managers: tuple[str, ...]) -> list[Manifest]:
    """A JSON patch that transfers fields of other managers to our own; a server-side apply follows.

    It changes no value, and fails if the object has changed. For kubectl's client-side apply it also removes the
    annotation last-applied-configuration, which would make a later `kubectl apply` remove fields.
    """
    metadata = live["metadata"]
    entries: list[Manifest] = []
    moved: Manifest = {}
    mine: Manifest | None = None
    for entry in metadata.get("managedFields") or []:
        if entry.get("subresource") or entry.get("manager") not in (*managers, own):
            entries.append(entry)
        elif entry.get("manager") == own:
            entries.append(copy(entry))
            mine = entries[-1] if entry.get("operation") == "Apply" else mine
        else:
            rest, found = _without(entry.get("fieldsV1") or {}, (), fields)
            for field in found:
                _add(moved, field)
            if rest:
                entries.append({**entry, "fieldsV1": rest})
    if mine is None:
        mine = {"manager": own, "operation": "Apply", "apiVersion": live["apiVersion"], "fieldsType": "FieldsV1"}
        entries.append(mine)
    mine["fieldsV1"] = _union(mine.get("fieldsV1") or {}, moved)
    steps: list[Manifest] = [
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata.get("resourceVersion", "")},
    ]
    if _APPLIED in managers and LAST_APPLIED in (metadata.get("annotations") or {}):
        steps.append({"op": "remove", "path": f"/metadata/annotations/{LAST_APPLIED.replace('/', '~1')}"})
    return steps


def _entries(live: Manifest, own: str, take_over: TakeOver) -> Iterator[Manifest]:
    for entry in live.get("metadata", {}).get("managedFields") or []:
        manager = str(entry.get("manager"))
        if manager != own and not entry.get("subresource") and take_over(manager):
            yield entry


def _without(node: Manifest, path: Field, fields: Mapping[Field, Any]) -> tuple[Manifest, list[Field]]:
    """A set of managed fields without the given fields, and the removed ones."""
    rest: Manifest = {}
    found: list[Field] = []
    for key, entry in node.items():
        here = (*path, key[2:]) if key.startswith("f:") else (*path, key)
        if key == ".":
            rest[key] = entry
        elif _covered(here, fields, whole=not set(entry) - {"."}):
            found += [(*here, *leaf) for leaf in _leaves(entry)]
        else:
            inner = {field: value for field, value in fields.items() if field[: len(here)] == here}
            kept, gone = _without(entry, here, inner) if inner else (entry, [])
            found += gone
            # A manager without fields in an object does not own the object.
            if not gone or set(kept) - {"."}:
                rest[key] = kept
    return (rest if set(rest) - {"."} or path else {}), found


def _covered(here: Field, fields: Mapping[Field, Any], whole: bool) -> bool:
    """Whether a managed field is one of the fields, is inside one, or contains one and is owned as a whole.

    An object declared as empty declares nothing inside.
    """
    for field, value in fields.items():
        if here[: len(field)] == field and (value != {} or (whole and here == field)):
            return True
        if whole and field[: len(here)] == here:
            return True
    return False


def _leaves(node: Manifest) -> Iterator[Field]:
    entries = {key: entry for key, entry in node.items() if key != "."}
    if not entries:
        yield ()
    for key, entry in entries.items():
        for leaf in _leaves(entry):
            yield (key[2:] if key.startswith("f:") else key, *leaf)


def _add(target: Manifest, field: Field) -> None:
    for key in field:
        # Items of lists that are not atomic keep their own prefix.
        target = target.setdefault(key if key[:2] in ("k:", "v:") else f"f:{key}", {})


def _union(one: Manifest, other: Manifest) -> Manifest:
    return {**one, **{key: _union(one.get(key) or {}, entry) for key, entry in other.items()}}
