"""Defaults of a VM from the cluster's configuration (``pkg/defaults``), and what a VMI gets in addition.

All functions change the given canonical VMI spec, or a part of it.
"""

from __future__ import annotations

from typing import Any, Final

from ...api import behaviour, errors, quantity
from ...api.errors import KubeVirtError
from ..cluster import CPU_REQUEST, KubeVirt
from .hotplug import live_update_limits, set_maximums

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
    """Sets the pod's request: the limit, else what the guest needs."""
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


_AMD64: Final = "amd64"
_ARM64: Final = "arm64"
_S390X: Final = "s390x"

_SPINLOCKS: Final = 4096
_PROBE: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}

# The other hyperv features that a feature requires, leaves first.
HYPERV_NEEDS: Final = (
    ("evmcs", "vapic"),
    ("ipi", "vpindex"),
    ("tlbflush", "vpindex"),
    ("synictimer", "synic"),
    ("synic", "vpindex"),
)


def set_vmi_defaults(spec: Spec, kubevirt: KubeVirt, maximums: bool = True) -> None:
    """Sets all defaults of a new VMI except a random firmware UUID.

    maximums: sets the maximums of CPU and memory, if the cluster changes running guests. Raises KubeVirtError like
    `set_spec_defaults`, and ValueError for a malformed configuration of the maximums.
    """
    set_spec_defaults(spec, kubevirt)
    architecture, domain = spec.get("architecture", ""), spec["domain"]
    domain.setdefault("firmware", {})
    _features(domain.setdefault("features", {}), architecture)
    for timer in ((domain.get("clock") or {}).get("timer") or {}).values():
        timer.setdefault("present", True)
    _devices(domain["devices"], architecture)
    _hyperv_needs(domain)
    if architecture == _ARM64:
        _boot_arm64(domain["firmware"])
        domain["cpu"].setdefault("model", "host-passthrough")
    domain["cpu"].setdefault("model", kubevirt.configuration.get("cpuModel") or "host-model")
    if maximums and kubevirt.live_updates and architecture != _ARM64:
        set_maximums(spec, live_update_limits(kubevirt.configuration))
    for probe in ("readinessProbe", "livenessProbe"):
        if probe in spec:
            spec[probe] = {**_PROBE, **spec[probe]}


def has_pcie(spec: Spec) -> bool:
    """Whether the guest has PCI Express, which device hotplug needs (SupportsPCIeHotplug)."""
    machine = (spec["domain"].get("machine") or {"type": "q35"})["type"]
    return spec.get("architecture", "") in (_AMD64, _ARM64, "") and ("q35" in machine or machine.startswith("virt"))


def _features(features: Spec, architecture: str) -> None:
    acpi = features.setdefault("acpi", {})
    if architecture == _S390X:
        acpi.setdefault("enabled", False)
    for name in ("acpi", "apic", "smm", "pvspinlock"):
        _enable(features.get(name))
    hyperv = features.get("hyperv") or {}
    for feature in hyperv.values():
        _enable(feature)
        for part in ("direct", "extended"):
            _enable(feature.get(part))
    if (hyperv.get("spinlocks") or {}).get("enabled"):
        hyperv["spinlocks"].setdefault("spinlocks", _SPINLOCKS)


def _hyperv_needs(domain: Spec) -> None:
    """Enables required features, up to the first that the VMI forbids, which a webhook rejects later."""
    hyperv = domain["features"].get("hyperv")
    if hyperv is None:
        return
    for feature, needed in HYPERV_NEEDS:
        if not (hyperv.get(feature) or {}).get("enabled"):
            continue
        if (hyperv.get(needed) or {}).get("enabled") is False:
            return
        hyperv.setdefault(needed, {})["enabled"] = True
    if (hyperv.get("evmcs") or {}).get("enabled"):
        features = domain["cpu"].setdefault("features", [])
        vmx = next((feature for feature in features if feature["name"] == "vmx"), None)
        if vmx is None:
            features.append({"name": "vmx", "policy": "require"})
        else:
            vmx["policy"] = "require"


def _devices(devices: Spec, architecture: str) -> None:
    default_bus = "virtio" if architecture in (_ARM64, _S390X) else "sata"
    for disk in devices.get("disks", ()):
        if not any(kind in disk for kind in ("disk", "lun", "cdrom")):
            disk["disk"] = {}
        for kind in ("disk", "lun", "cdrom"):
            if kind in disk:
                disk[kind].setdefault("bus", default_bus)
        if "cdrom" in disk:
            disk["cdrom"].setdefault("tray", "closed")
            disk["cdrom"].setdefault("readonly", True)
        _enable((disk.get("blockSize") or {}).get("matchVolume"))
    for entry in devices.get("inputs", ()):
        entry.setdefault("bus", "usb")
        entry["type"] = entry.get("type") or "tablet"
    for gpu in devices.get("gpus", ()):
        _enable(((gpu.get("virtualGPUOptions") or {}).get("display") or {}).get("ramFB"))
    if "watchdog" in devices:
        model = "diag288" if architecture == _S390X else "i6300esb"
        devices["watchdog"].setdefault(model, {}).setdefault("action", "reset")


def _boot_arm64(firmware: Spec) -> None:
    """arm64 boots only with EFI, without secure boot."""
    bootloader = firmware.setdefault("bootloader", {"efi": {}})
    if "efi" in bootloader:
        bootloader["efi"].setdefault("secureBoot", False)


def _enable(feature: Spec | None) -> None:
    if feature is not None:
        feature.setdefault("enabled", True)
