"""GPUs and host devices of an instancetype (KubeVirt ``applyGPUs``, ``applyHostDevices``)."""

from __future__ import annotations

from typing import Any

from .conflict import set_or_conflict


def gpus(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return set_or_conflict(instancetype, spec["domain"]["devices"], "gpus", "domain.devices.")


def host_devices(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return set_or_conflict(instancetype, spec["domain"]["devices"], "hostDevices", "domain.devices.")
