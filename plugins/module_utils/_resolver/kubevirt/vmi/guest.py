"""The figures of a VM's guest."""

from __future__ import annotations

from typing import Any


def guest(spec: dict[str, Any]) -> dict[str, Any]:
    """{vcpus, sockets, cores, threads, memory, gpus, host_devices} of an applied VMI spec, without absent ones.

    vcpus: the product of the three numbers; a missing one counts as 1. memory: a quantity.
    """
    domain = spec.get("domain", {})
    cpu = domain.get("cpu", {})
    counts = {name: cpu.get(name, 1) for name in ("sockets", "cores", "threads")}
    devices = domain.get("devices", {})
    figures = {
        "vcpus": counts["sockets"] * counts["cores"] * counts["threads"],
        **counts,
        "memory": domain.get("memory", {}).get("guest"),
        "gpus": [gpu.get("deviceName") or gpu["name"] for gpu in devices.get("gpus", [])],
        "host_devices": [device.get("deviceName") or device["name"] for device in devices.get("hostDevices", [])],
    }
    return {name: value for name, value in figures.items() if value}
