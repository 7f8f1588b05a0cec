"""Defaults of a VM from the cluster's configuration (``pkg/defaults``).

All functions change the given canonical VMI spec.
"""

from __future__ import annotations

from typing import Any, Final

from ...api import errors, quantity
from ...api.release import NEWEST, Release
from ..find.lookup import Problem
from .configuration import CPU_REQUEST, Configuration

Spec = dict[str, Any]


_UINT32: Final = 2**32


def set_spec_defaults(spec: Spec, config: Configuration, release: Release = NEWEST) -> Problem | None:
    """Sets all defaults of a VMI spec, as virt-api does when it expands or validates a VM."""
    set_architecture(spec, config)
    set_machine_type(spec, config)
    _set_cpu_request(spec, config)
    if release.requests_guest_memory:
        _set_memory_request(spec, config)
    _set_guest_memory(spec)
    _set_topology(spec)
    _set_pull_policies(spec)
    spec.setdefault("evictionStrategy", config.eviction_strategy)
    problem = add_network_interface(spec, config)
    if problem is None:
        add_disks_for_volumes(spec)
    return problem


def set_architecture(spec: Spec, config: Configuration) -> None:
    """Sets the cluster's architecture if the VM has none."""
    if not spec.get("architecture") and config.architecture:
        spec["architecture"] = config.architecture


def set_machine_type(spec: Spec, config: Configuration) -> None:
    """Sets the machine type of the VM's architecture if the VM has none; call set_architecture first."""
    machine = spec["domain"].setdefault("machine", {"type": ""})
    machine["type"] = machine["type"] or machine_type(spec.get("architecture", ""), config)


def machine_type(architecture: str, config: Configuration) -> str:
    """The cluster's machine type for an architecture; an unknown one counts as amd64."""
    return config.machine_type or config.machine_types.get(architecture) or config.machine_types["amd64"]


def add_disks_for_volumes(spec: Spec) -> None:
    """Adds a disk for each volume without a disk or a filesystem."""
    devices = spec["domain"]["devices"]
    attached = {entry["name"] for field in ("disks", "filesystems") for entry in devices.get(field, ())}
    added = [{"name": volume["name"]} for volume in spec.get("volumes", ()) if volume["name"] not in attached]
    if added:
        devices["disks"] = devices.get("disks", []) + added


def add_network_interface(spec: Spec, config: Configuration) -> Problem | None:
    """Adds the pod network with an interface, unless the VM has networks or interfaces or opts out."""
    devices = spec["domain"]["devices"]
    if devices.get("autoattachPodInterface") is False or spec.get("networks") or devices.get("interfaces"):
        return None
    if config.network_interface == "slirp":
        return Problem("slirp interface is deprecated as of v1.3")
    if config.network_interface == "bridge" and not config.bridge_permitted:
        return Problem("bridge interface is not enabled in kubevirt-config")
    devices["interfaces"] = [{"name": "default", config.network_interface: {}}]
    spec["networks"] = [{"name": "default", "pod": {}}]
    return None


def _set_cpu_request(spec: Spec, config: Configuration) -> None:
    resources = spec["domain"]["resources"]
    limit = resources.get("limits", {}).get("cpu")
    if not _is_zero(limit) and _is_zero(resources.get("requests", {}).get("cpu")):
        resources.setdefault("requests", {})["cpu"] = limit
    if quantity.parse(config.cpu_request).nanos == quantity.parse(CPU_REQUEST).nanos:
        # virt-controller sets the default in the pod, not in the VM.
        return
    dedicated = spec["domain"].get("cpu", {}).get("dedicatedCpuPlacement", False)
    if "cpu" not in resources.get("requests", {}) and not dedicated:
        resources.setdefault("requests", {})["cpu"] = config.cpu_request


def _set_memory_request(spec: Spec, config: Configuration) -> None:
    """Sets the pod's request: the limit, else the guest's memory, else the huge page size."""
    resources = spec["domain"]["resources"]
    limit = resources.get("limits", {}).get("memory")
    if not _is_zero(limit) and _is_zero(resources.get("requests", {}).get("memory")):
        resources.setdefault("requests", {})["memory"] = limit
    if "memory" in resources.get("requests", {}):
        return
    memory = spec["domain"].get("memory", {})
    try:
        amount = quantity.parse(memory.get("guest") or memory.get("hugepages", {}).get("pageSize", ""))
    except errors.QuantityError:
        return
    if amount.value <= 0:
        return
    if config.memory_overcommit != 100:
        amount = quantity.Quantity.from_integer(amount.value * 100 // config.memory_overcommit, amount.format)
    resources.setdefault("requests", {})["memory"] = amount.text


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
