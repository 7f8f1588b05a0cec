"""GPUs and host devices of an instancetype (KubeVirt ``applyGPUs``, ``applyHostDevices``)."""

from __future__ import annotations

from typing import Any

from .conflict import take


def gpus(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return take(instancetype, spec["domain"]["devices"], "gpus", "domain.devices.")


def host_devices(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return take(instancetype, spec["domain"]["devices"], "hostDevices", "domain.devices.")
