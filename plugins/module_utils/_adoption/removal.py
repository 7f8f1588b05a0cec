"""Removes the fields of a VM that its instancetype and preference provide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._resolver.api.manifest import Manifest
from .._resolver.api.tree import copy

# Template → what KubeVirt makes of it, or None if KubeVirt rejects it.
Build = Callable[[Manifest], "Manifest | None"]

# The API requires these, even if they are empty.
_REQUIRED: Final = frozenset({"domain", "devices"})
# The type of a disk stays explicit, although a preference gives disks without one the type disk.
_DISK_TYPES: Final = frozenset({"disk", "cdrom", "lun"})


def without_field(template: Manifest, path: str) -> tuple[Manifest, Any]:
    """A copy of a template without a field, and without the objects that become empty; and the value of the field.

    path: the spelling of conflicts, relative to the template's spec; ``annotations.KEY`` is in its metadata.
    """
    result = copy(template)
    annotation = annotation_in(path)
    if annotation:
        return result, _remove(result.get("metadata") or {}, ["annotations", annotation])
    return result, _remove(result.get("spec") or {}, path.split("."))


def annotation_in(path: str) -> str:
    """The annotation at the path of a conflict; "" for a field of the spec."""
    return path.partition(".")[2] if path.startswith("annotations.") else ""


def reduced(template: Manifest, plain: Build, applied: Build) -> tuple[Manifest, dict[str, Any]]:
    """A copy without the fields that make no difference once instancetype and preference are applied; and these, path →
    value.

    plain: the template without instancetype and preference; a field that makes no difference there stays. applied: the
    template with both. Lists of objects keep their entries, which lose fields.
    """
    result = copy(template)
    removed: dict[str, Any] = {}
    target = applied(result)

    def reduce(node: Manifest, path: str) -> None:
        for key, value in list(node.items()):
            field_path = f"{path}.{key}" if path else key
            before, fields = plain(result), list(node.items())
            del node[key]
            optional = key not in _REQUIRED and key not in _DISK_TYPES
            if optional and plain(result) != before and applied(result) == target:
                removed[field_path] = value
                continue
            # Restore the field at its position.
            node.clear()
            node.update(fields)
            inside = [(f"[{index}]", entry) for index, entry in enumerate(value)] if isinstance(value, list) else []
            for place, entry in [("", value), *inside]:
                if isinstance(entry, dict):
                    reduce(entry, field_path + place)

    metadata = result.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    reduce(annotations, "annotations")
    if not annotations:
        metadata.pop("annotations", None)
    reduce(result.get("spec") or {}, "")
    return result, removed


def _remove(node: Manifest, keys: list[str]) -> Any:
    """Removes a field; its value."""
    value = None
    # Some conflicts spell a field with other capitals than manifests.
    names = [name for name in node if name.lower() == keys[0].lower()]
    for name in names:
        inside = node[name]
        value = _remove(inside, keys[1:]) if keys[1:] else inside
        if not keys[1:] or (not inside and name not in _REQUIRED):
            del node[name]
    return value
