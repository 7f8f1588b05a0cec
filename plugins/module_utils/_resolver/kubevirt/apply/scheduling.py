"""nodeSelector and schedulerName of an instancetype (KubeVirt ``applyNodeSelector``, ``applySchedulerName``)."""

from __future__ import annotations

from typing import Any

from .conflict import Conflict


def node_selector(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[Conflict]:
    """Any selector of the VM conflicts, even an empty or equal one."""
    selector = instancetype.get("nodeSelector")
    if selector is None:
        return []
    if "nodeSelector" in spec:
        return [Conflict("nodeSelector")]
    spec["nodeSelector"] = dict(selector)
    return []


def scheduler_name(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[Conflict]:
    name = instancetype.get("schedulerName")
    if name is None:
        return []
    if "schedulerName" in spec:
        return [Conflict("schedulerName")]
    spec["schedulerName"] = name
    return []
