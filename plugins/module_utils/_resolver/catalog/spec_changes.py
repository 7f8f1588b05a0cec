"""The spec of an instancetype or preference after it is applied, and what that changes."""

from __future__ import annotations

from typing import Any

from ..api import managed_fields, schema
from ..api.manifest import Manifest
from ..api.matcher import MATCHER_FIELD_OF_KIND
from ..api.tree import copy, differences, leaves, remove_at, set_at


def predicted(
    manifest: Manifest, live: Manifest | None, owned_fields: set[managed_fields.FieldPath] | None
) -> Manifest:
    """The canonical spec after the manifest is applied to the live object.

    owned_fields: the fields of the live object that our field manager owns; what is no longer declared goes, others
    stay.
    """
    matcher_field = MATCHER_FIELD_OF_KIND[manifest["kind"]]
    result = {"spec": copy((live or {}).get("spec") or {})}
    for field in managed_fields.undeclared(owned_fields or set(), managed_fields.leaf_fields(manifest)):
        remove_at(result, field)
    for field, value in leaves({"spec": manifest.get("spec") or {}}).items():
        set_at(result, field, value)
    return schema.canonical(matcher_field.spec_type, result["spec"])


def changes(live: Manifest, spec: Manifest) -> list[dict[str, Any]]:
    """[{field, before, after}] between a live object's spec and a canonical spec."""
    matcher_field = MATCHER_FIELD_OF_KIND[live["kind"]]
    return differences(schema.canonical(matcher_field.spec_type, live.get("spec")), spec)
