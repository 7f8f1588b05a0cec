"""GPUs and host devices of an instancetype (KubeVirt ``applyGPUs``, ``applyHostDevices``)."""

from __future__ import annotations

from typing import Any

from ...api.tree import copy
from .conflict import Conflict


def gpus(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[Conflict]:
    return _devices("gpus", instancetype, spec)


def host_devices(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[Conflict]:
    return _devices("hostDevices", instancetype, spec)


def _devices(field: str, instancetype: dict[str, Any], spec: dict[str, Any]) -> list[Conflict]:
    source = instancetype.get(field)
    if not source:
        return []
    devices = spec["domain"]["devices"]
    if field in devices:
        return [Conflict(f"domain.devices.{field}")]
    devices[field] = copy(source)
    return []
