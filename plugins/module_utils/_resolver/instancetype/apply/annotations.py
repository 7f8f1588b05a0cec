"""Annotations of an instancetype go to the VMI's metadata (KubeVirt ``applyInstanceTypeAnnotations``)."""

from __future__ import annotations

from typing import Any

from .conflict import Conflict


def merge_annotations(instancetype: dict[str, Any], metadata: dict[str, Any]) -> list[Conflict]:
    """The same key with another value conflicts; in the order of the keys (KubeVirt's own order is random)."""
    wanted = instancetype.get("annotations")
    if not wanted:
        return []
    own = metadata.setdefault("annotations", {})
    found = [Conflict(f"annotations.{key}") for key in sorted(wanted) if own.get(key, wanted[key]) != wanted[key]]
    own.update({key: value for key, value in wanted.items() if key not in own})
    return found
