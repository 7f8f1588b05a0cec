"""Copies the annotations of an instancetype to the VMI (KubeVirt ``applyInstanceTypeAnnotations``)."""

from __future__ import annotations

from typing import Any


def merge_annotations(instancetype: dict[str, Any], metadata: dict[str, Any]) -> list[str]:
    """An equal key with another value conflicts; ordered by key (KubeVirt's own order is random)."""
    annotations = instancetype.get("annotations")
    if not annotations:
        return []
    own = metadata.setdefault("annotations", {})
    conflicts = [
        f"annotations.{key}" for key in sorted(annotations) if own.get(key, annotations[key]) != annotations[key]
    ]
    own.update({key: value for key, value in annotations.items() if key not in own})
    return conflicts
