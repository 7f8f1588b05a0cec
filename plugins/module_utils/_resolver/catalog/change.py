"""The effect of a declaration on an existing instancetype or preference."""

from __future__ import annotations

from typing import Any

from ..api import managed_fields as ownership
from ..api import schema
from ..api.matcher import ROLE_OF_KIND
from ..api.tree import copy, differences

Manifest = dict[str, Any]


def predicted(manifest: Manifest, live: Manifest | None, owner: set[ownership.Field] | None) -> Manifest:
    """The canonical spec after the manifest is applied to the live object.

    owner: the fields of the live object that our field manager owns; those that are no longer declared go, others stay.
    """
    role = ROLE_OF_KIND[manifest["kind"]]
    result = {"spec": copy((live or {}).get("spec") or {})}
    for field in ownership.undeclared(owner or set(), ownership.declared(manifest)):
        ownership.take(result, field)
    for field, value in ownership.leaves({"spec": manifest.get("spec") or {}}):
        ownership.put(result, field, value)
    return schema.canonical(role.spec_type, result["spec"])


def changes(live: Manifest, spec: Manifest) -> list[dict[str, Any]]:
    """[{field, before, after}] between a live object's spec and a canonical spec."""
    role = ROLE_OF_KIND[live["kind"]]
    return differences(schema.canonical(role.spec_type, live.get("spec")), spec)
