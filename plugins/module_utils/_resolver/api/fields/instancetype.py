"""Instancetypes (instancetype.kubevirt.io/v1beta1).

Type → field → type expression, or a tuple (type expression, notes): see `schema` and `release_schema`.
"""

from __future__ import annotations

from typing import Any

TYPES: dict[str, dict[str, Any]] = {
    "VirtualMachineInstancetype": {
        "kind": "string",
        "apiVersion": "string",
        "metadata": "ObjectMeta",
        "spec": "VirtualMachineInstancetypeSpec!",
    },
    "VirtualMachineInstancetypeSpec": {
        "nodeSelector": ("map[string]string", {"since": "1.1"}),
        "schedulerName": ("string", {"since": "1.1"}),
        "cpu": "CPUInstancetype!",
        "memory": "MemoryInstancetype!",
        "gpus": "[]GPU",
        "hostDevices": "[]HostDevice",
        "ioThreadsPolicy": "*IOThreadsPolicy",
        "ioThreads": ("*DiskIOThreads", {"since": "1.7"}),
        "launchSecurity": "*LaunchSecurity",
        "annotations": ("map[string]string", {"since": "1.1"}),
    },
    "CPUInstancetype": {
        "guest": "uint32!",
        "model": "*string",
        "dedicatedCPUPlacement": "*bool",
        "numa": "*NUMA",
        "isolateEmulatorThread": "*bool",
        "realtime": "*Realtime",
        "maxSockets": ("*uint32", {"since": "1.3"}),
    },
    "MemoryInstancetype": {
        "guest": "Quantity!",
        "hugepages": "*Hugepages",
        "overcommitPercent": "int",
        "maxGuest": ("*Quantity", {"since": "1.3"}),
    },
}
