"""Copies the annotations of an instancetype to the VMI (KubeVirt ``applyInstanceTypeAnnotations``)."""

from __future__ import annotations

from typing import Any

from .conflict import Conflict


def merge_annotations(instancetype: dict[str, Any], metadata: dict[str, Any]) -> list[Conflict]:
    """An equal key with another value conflicts; ordered by key (KubeVirt's own order is random)."""
    annotations = instancetype.get("annotations")
    if not annotations:
        return []
    own = metadata.setdefault("annotations", {})
    conflicts = [
        Conflict(f"annotations.{key}")
        for key in sorted(annotations)
        if own.get(key, annotations[key]) != annotations[key]
    ]
    own.update({key: value for key, value in annotations.items() if key not in own})
    return conflicts
