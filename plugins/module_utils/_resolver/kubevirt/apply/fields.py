"""Fields that KubeVirt copies from an instancetype to the VMI as they are (its ``applyNodeSelector``,
``applySchedulerName``, ``applyIOThreads``, ``applyIOThreadPolicy``, ``applyLaunchSecurity``, ``applyGPUs``,
``applyHostDevices``, ``applyInstanceTypeAnnotations``)."""

from __future__ import annotations

from typing import Any, Final

from ...api.tree import copy

_COUNT: Final = "supplementalPoolThreadCount"


def node_selector(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    """Any selector of the VM conflicts, even an empty or equal one."""
    return _set_or_conflict(instancetype, spec, "nodeSelector")


def scheduler_name(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return _set_or_conflict(instancetype, spec, "schedulerName")


def io_threads(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    """The size of the supplemental pool. 0 counts as set on either side, an empty ioThreads does not."""
    source = instancetype.get("ioThreads", {})
    if _COUNT not in source:
        return []
    return _set_or_conflict(source, spec["domain"].setdefault("ioThreads", {}), _COUNT, "domain.ioThreads.")


def io_threads_policy(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return _set_or_conflict(instancetype, spec["domain"], "ioThreadsPolicy", "domain.")


def launch_security(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return _set_or_conflict(instancetype, spec["domain"], "launchSecurity", "domain.")


def gpus(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return _set_or_conflict(instancetype, spec["domain"]["devices"], "gpus", "domain.devices.")


def host_devices(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return _set_or_conflict(instancetype, spec["domain"]["devices"], "hostDevices", "domain.devices.")


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


def _set_or_conflict(source: dict[str, Any], target: dict[str, Any], field: str, parent: str = "") -> list[str]:
    """Copies a field of an instancetype to the VMI if it is set; a conflict if the VM sets it too.

    parent: the path of the target, with a dot at its end.
    """
    if field not in source:
        return []
    if field in target:
        return [f"{parent}{field}"]
    target[field] = copy(source[field])
    return []
