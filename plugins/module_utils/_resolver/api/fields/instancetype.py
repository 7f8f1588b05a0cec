"""Instancetypes (instancetype.kubevirt.io/v1beta1).

Type → field → type expression, or a tuple (type expression, description, notes): see `schema` and
`argument_spec.Field`.
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
        "nodeSelector": (
            "map[string]string",
            "Labels that a node must have to run the VM. A VM with a node selector of its own conflicts, "
            "even if both are equal.",
            {"since": "1.1"},
        ),
        "schedulerName": (
            "string",
            "Scheduler that places the VM's pod. A VM that names a scheduler itself conflicts.",
            {"since": "1.1"},
        ),
        "cpu": (
            "CPUInstancetype!",
            "The vCPUs. Every instancetype needs it. A VM that sets sockets, cores, threads, or CPU requests or limits "
            "itself conflicts.",
        ),
        "memory": (
            "MemoryInstancetype!",
            "The memory. Every instancetype needs it. A VM that sets guest memory, or memory requests or limits itself "
            "conflicts.",
        ),
        "gpus": (
            "[]GPU",
            "GPUs to pass through. A VM that lists GPUs itself conflicts.",
        ),
        "hostDevices": (
            "[]HostDevice",
            "Host devices to pass through. A VM that lists host devices itself conflicts.",
        ),
        "ioThreadsPolicy": (
            "*IOThreadsPolicy",
            "Which threads do the disk I/O. With `shared` all disks use one thread, with `auto` KubeVirt spreads them "
            "over several, with `supplementalPool` all use a pool, sized by `ioThreads`. Unset leaves the I/O to "
            "the emulator's main thread. A VM with a policy of its own conflicts.",
        ),
        "ioThreads": (
            "*DiskIOThreads",
            "Settings of the I/O threads.",
            {"since": "1.7"},
        ),
        "launchSecurity": (
            "*LaunchSecurity",
            "Confidential computing. One of its fields chooses the technology. A VM with launch security of its own "
            "conflicts, and a preference's is not used.",
            {"deprecated": "Since 1.9, use preferredLaunchSecurity of a preference."},
        ),
        "annotations": (
            "map[string]string",
            "Annotations that every VM instance of this type gets. They win over those of a preference. A VM whose "
            "template has the same key with another value conflicts.",
            {"since": "1.1"},
        ),
    },
    "CPUInstancetype": {
        "guest": (
            "uint32!",
            "Number of vCPUs of the guest. How they appear, as sockets, cores or threads, is the preference's choice; "
            "without one they are sockets.",
        ),
        "model": (
            "*string",
            "CPU model: a name that libvirt knows, `host-model` (the named model closest to the node's CPU) or "
            "`host-passthrough` (exactly the node's CPU). Unset leaves it to the VM and then to the cluster. "
            "A VM with a model of its own conflicts if this is set.",
        ),
        "dedicatedCPUPlacement": (
            "*bool",
            "Whether every vCPU is pinned to a physical CPU that nothing else uses. Needs nodes with the static CPU "
            "manager policy. A VM that sets it to true conflicts if this is set, even to the same value.",
        ),
        "numa": (
            "*NUMA",
            "NUMA topology of the guest. A VM with one of its own conflicts.",
        ),
        "isolateEmulatorThread": (
            "*bool",
            "Whether the emulator gets a physical CPU of its own, besides those of the vCPUs. Needs "
            "`cpu.dedicatedCPUPlacement`. A VM that sets it to true conflicts if this is set.",
        ),
        "realtime": (
            "*Realtime",
            "Tunes the VM for low latency. Needs dedicated CPUs and huge pages. A VM that sets it itself conflicts.",
        ),
        "maxSockets": (
            "*uint32",
            "Largest number of sockets that the VM can be grown to while it runs. It replaces the VM's own value and "
            "never conflicts.",
            {"since": "1.3"},
        ),
    },
    "MemoryInstancetype": {
        "guest": (
            "Quantity!",
            "Memory that the guest sees, as a quantity such as `4Gi`.",
        ),
        "hugepages": (
            "*Hugepages",
            "Backs the guest's memory with huge pages. A VM that asks for huge pages itself conflicts.",
        ),
        "overcommitPercent": (
            "int",
            "By how many percent the pod's memory request is lower than `memory.guest`, 0 to 100. More VMs fit on a "
            "node, but they may be killed when its memory runs out.",
        ),
        "maxGuest": (
            "*Quantity",
            "Largest memory that the VM can be grown to while it runs, as a quantity. A VM that sets it itself "
            "conflicts.",
            {"since": "1.3"},
        ),
    },
}
