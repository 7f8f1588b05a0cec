"""Removes the fields of a VM's template that its instancetype and preference set to the same value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..api.tree import copy

Manifest = dict[str, Any]
# Template → what KubeVirt makes of it, or None if KubeVirt rejects it.
Make = Callable[[Manifest], "Manifest | None"]

# The API requires these, even if they are empty.
_REQUIRED: Final = frozenset({"domain", "devices"})
# The type of a disk stays explicit, although a preference gives disks without one the type disk.
_KEPT: Final = frozenset({"disk", "cdrom", "lun"})


def without(template: Manifest, path: str) -> Manifest:
    """A copy of a template without a field, and without the objects that become empty.

    path: as in conflicts, relative to the template's spec; ``annotations.KEY`` is in its metadata.
    """
    result = copy(template)
    if path.startswith("annotations."):
        _take(result.get("metadata") or {}, ["annotations", path.partition(".")[2]])
    else:
        _take(result.get("spec") or {}, path.split("."))
    return result


def reduced(template: Manifest, alone: Make, applied: Make) -> tuple[Manifest, list[str]]:
    """A copy without the fields that make no difference once instancetype and preference are applied, and their paths.

    alone: the template without instancetype and preference; a field that makes no difference there stays. applied: the
    template with both. Lists of objects keep their entries, which lose fields.
    """
    work = copy(template)
    removed: list[str] = []
    target = applied(work)

    def reduce(node: Manifest, path: str) -> None:
        for key, value in list(node.items()):
            here = f"{path}.{key}" if path else key
            before, fields = alone(work), list(node.items())
            del node[key]
            optional = key not in _REQUIRED and key not in _KEPT
            if optional and alone(work) != before and applied(work) == target:
                removed.append(here)
                continue
            # Restore the field at its position.
            node.clear()
            node.update(fields)
            inside = [(here, value)] if isinstance(value, dict) else []
            if isinstance(value, list):
                inside = [(f"{here}[{index}]", one) for index, one in enumerate(value) if isinstance(one, dict)]
            for place, entry in inside:
                reduce(entry, place)

    annotations = (work.get("metadata") or {}).get("annotations") or {}
    reduce(annotations, "annotations")
    if not annotations:
        (work.get("metadata") or {}).pop("annotations", None)
    reduce(work.get("spec") or {}, "")
    return work, removed


def _take(node: Manifest, keys: list[str]) -> None:
    # Some conflicts spell a field with other capitals than manifests.
    names = [name for name in node if name.lower() == keys[0].lower()]
    for name in names:
        inside = node[name]
        if len(keys) == 1:
            del node[name]
        else:
            _take(inside, keys[1:])
            if not inside and name not in _REQUIRED:
                del node[name]
