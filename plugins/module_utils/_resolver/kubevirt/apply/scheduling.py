"""nodeSelector and schedulerName of an instancetype (KubeVirt ``applyNodeSelector``, ``applySchedulerName``)."""

from __future__ import annotations

from typing import Any

from .conflict import set_or_conflict


def node_selector(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    """Any selector of the VM conflicts, even an empty or equal one."""
    return set_or_conflict(instancetype, spec, "nodeSelector")


def scheduler_name(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return set_or_conflict(instancetype, spec, "schedulerName")
