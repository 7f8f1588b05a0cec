"""Fields that KubeVirt copies from an instancetype to the VMI as they are (its ``applyNodeSelector``,
``applySchedulerName``, ``applyIOThreads``, ``applyIOThreadPolicy``, ``applyLaunchSecurity``, ``applyGPUs``,
``applyHostDevices``, ``applyInstanceTypeAnnotations``)."""

from __future__ import annotations

from typing import Any, Final

from ...api.tree import copy

_COUNT: Final = "supplementalPoolThreadCount"


def copied(source: dict[str, Any], target: dict[str, Any], field: str, parent: str = "") -> list[str]:
    """Copies a field of an instancetype to the VMI if it is set; a conflict if the VM sets it too, even to the same.

    parent: the path of the target, with a dot at its end.
    """
    if field not in source:
        return []
    if field in target:
        return [f"{parent}{field}"]
    target[field] = copy(source[field])
    return []


def io_threads(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    """The size of the supplemental pool. 0 counts as set on either side, an empty ioThreads does not."""
    source = instancetype.get("ioThreads", {})
    if _COUNT not in source:
        return []
    return copied(source, spec["domain"].setdefault("ioThreads", {}), _COUNT, "domain.ioThreads.")


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
