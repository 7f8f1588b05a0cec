"""Copies the annotations of an instancetype to the VMI (KubeVirt ``applyInstanceTypeAnnotations``)."""

from __future__ import annotations

from typing import Any

from .conflict import Conflict


def merge_annotations(instancetype: dict[str, Any], metadata: dict[str, Any]) -> list[Conflict]:
    """An equal key with another value conflicts; ordered by key (KubeVirt's own order is random)."""
    wanted = instancetype.get("annotations")
    if not wanted:
        return []
    own = metadata.setdefault("annotations", {})
    found = [Conflict(f"annotations.{key}") for key in sorted(wanted) if own.get(key, wanted[key]) != wanted[key]]
    own.update({key: value for key, value in wanted.items() if key not in own})
    return found
