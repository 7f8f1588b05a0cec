"""Defaults of a VM from the cluster's configuration (``pkg/defaults``).

All functions change the given canonical VMI spec, or a part of it.
"""

from __future__ import annotations

from typing import Any, Final

from ...api import behaviour, errors, quantity
from ...api.errors import KubeVirtError
from ..cluster import CPU_REQUEST, KubeVirt

Spec = dict[str, Any]


_UINT32: Final = 2**32


def set_spec_defaults(spec: Spec, kubevirt: KubeVirt) -> None:
    """Sets all defaults of a VMI spec, as virt-api does when it expands or validates a VM. Raises KubeVirtError."""
    set_architecture(spec, kubevirt)
    set_machine_type(spec, kubevirt)
    _set_cpu_request(spec, kubevirt)
    if kubevirt.release.has(behaviour.REQUESTS_GUEST_MEMORY):
        _set_memory_request(spec, kubevirt)
    _set_guest_memory(spec)
    _set_topology(spec)
    _set_pull_policies(spec)
    spec.setdefault("evictionStrategy", kubevirt.eviction_strategy)
    add_network_interface(spec, kubevirt)
    add_disks_for_volumes(spec)


def set_architecture(spec: Spec, kubevirt: KubeVirt) -> None:
    """Sets the cluster's architecture if the VM has none."""
    if not spec.get("architecture") and kubevirt.architecture:
        spec["architecture"] = kubevirt.architecture


def set_machine_type(spec: Spec, kubevirt: KubeVirt) -> None:
    """Sets the machine type of the VM's architecture if the VM has none; call set_architecture first."""
    machine = spec["domain"].setdefault("machine", {"type": ""})
    machine["type"] = machine["type"] or kubevirt.machine_type(spec.get("architecture", ""))


def add_disks_for_volumes(spec: Spec) -> None:
    """Adds a disk for each volume without a disk or a filesystem."""
    devices = spec["domain"]["devices"]
    attached = {entry["name"] for field in ("disks", "filesystems") for entry in devices.get(field, ())}
    added = [{"name": volume["name"]} for volume in spec.get("volumes", ()) if volume["name"] not in attached]
    if added:
        devices["disks"] = devices.get("disks", []) + added


def add_network_interface(spec: Spec, kubevirt: KubeVirt) -> None:
    """Adds the pod network with an interface, unless the VM has networks or interfaces or opts out.

    Raises KubeVirtError for a binding that KubeVirt no longer has, or does not permit.
    """
    devices = spec["domain"]["devices"]
    if devices.get("autoattachPodInterface") is False or spec.get("networks") or devices.get("interfaces"):
        return
    if kubevirt.network_interface == "slirp":
        raise KubeVirtError("slirp interface is deprecated as of v1.3")
    if kubevirt.network_interface == "bridge" and not kubevirt.bridge_permitted:
        raise KubeVirtError("bridge interface is not enabled in kubevirt-config")
    devices["interfaces"] = [{"name": "default", kubevirt.network_interface: {}}]
    spec["networks"] = [{"name": "default", "pod": {}}]


def _set_cpu_request(spec: Spec, kubevirt: KubeVirt) -> None:
    resources = spec["domain"]["resources"]
    limit = resources.get("limits", {}).get("cpu")
    if not _is_zero(limit) and _is_zero(resources.get("requests", {}).get("cpu")):
        resources.setdefault("requests", {})["cpu"] = limit
    if quantity.parse(kubevirt.cpu_request).nanos == quantity.parse(CPU_REQUEST).nanos:
        # virt-controller sets the default in the pod, not in the VM.
        return
    dedicated = spec["domain"].get("cpu", {}).get("dedicatedCpuPlacement", False)
    if "cpu" not in resources.get("requests", {}) and not dedicated:
        resources.setdefault("requests", {})["cpu"] = kubevirt.cpu_request


def _set_memory_request(spec: Spec, kubevirt: KubeVirt) -> None:
    """Sets the pod's memory request: to the limit, else to the memory of the guest."""
    resources = spec["domain"]["resources"]
    limit, requests = resources.get("limits", {}).get("memory"), resources.get("requests", {})
    if not _is_zero(limit) and _is_zero(requests.get("memory")):
        resources["requests"] = {**requests, "memory": limit}
    elif "memory" not in requests:
        guest = guest_request(spec, kubevirt)
        if guest is not None:
            resources["requests"] = {**requests, "memory": guest.text}


def guest_request(spec: Spec, kubevirt: KubeVirt) -> quantity.Quantity | None:
    """The memory request for a guest: its memory, else the huge page size, less what is overcommitted."""
    memory = spec["domain"].get("memory") or {}
    try:
        amount = quantity.parse(memory.get("guest") or (memory.get("hugepages") or {}).get("pageSize", ""))
    except errors.QuantityError:
        return None
    if amount.value <= 0:
        return None
    if kubevirt.memory_overcommit == 100:
        return amount
    return quantity.Quantity.from_integer(amount.value * 100 // kubevirt.memory_overcommit, amount.format)


def _set_guest_memory(spec: Spec) -> None:
    memory = spec["domain"].setdefault("memory", {})
    if "guest" in memory:
        return
    resources = spec["domain"]["resources"]
    for field in ("requests", "limits"):
        amount = resources.get(field, {}).get("memory")
        if not _is_zero(amount):
            memory["guest"] = amount
            return
    if "hugepages" in memory:
        try:
            memory["guest"] = quantity.canonical(memory["hugepages"].get("pageSize", ""))
        except errors.QuantityError:
            # The API accepts any text as a page size; an invalid quantity gives no default.
            return


def _set_topology(spec: Spec) -> None:
    cpu = spec["domain"].setdefault("cpu", {})
    if any(cpu.get(field) for field in ("sockets", "cores", "threads")):
        return
    resources = spec["domain"]["resources"]
    sockets = 1
    for field in ("limits", "requests"):
        amount = resources.get(field, {}).get("cpu")
        if amount is not None:
            sockets = quantity.parse(amount).value % _UINT32
            break
    cpu.update(cores=1, threads=1)
    if sockets:
        cpu["sockets"] = sockets


def _set_pull_policies(spec: Spec) -> None:
    for volume in spec.get("volumes", ()):
        disk = volume.get("containerDisk")
        if disk is not None and not disk.get("imagePullPolicy"):
            image = disk["image"]
            latest = image.endswith(":latest") or not (":" in image or "@" in image)
            disk["imagePullPolicy"] = "Always" if latest else "IfNotPresent"


def _is_zero(amount: str | None) -> bool:
    return amount is None or quantity.parse(amount).nanos == 0
