"""Defaults that only a VMI gets, beside those it shares with an expanded VM (`_resolver.instancetype.vmi.defaults`).

All functions change the canonical VMI spec, or the part of it, that they are given.
"""

from __future__ import annotations

import uuid
from typing import Any, Final

from _resolver.api import quantity
from _resolver.api.release import NEWEST, Release
from _resolver.instancetype.vmi import defaults
from _resolver.instancetype.vmi.live_update import HOTPLUG_RATIO

Spec = dict[str, Any]

AMD64, ARM64, S390X = "amd64", "arm64", "s390x"

_MOST_VCPUS: Final = 512
_LEAST_HOTPLUG_MEMORY: Final = 2**30  # bytes
_MEMORY_BLOCK: Final = 2 * 2**20  # bytes
_SPINLOCKS: Final = 4096
_PROBE: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}

# Which hyperv feature needs which other one; leaves first.
_HYPERV_NEEDS: Final = (
    ("evmcs", "vapic"),
    ("ipi", "vpindex"),
    ("tlbflush", "vpindex"),
    ("synictimer", "synic"),
    ("synic", "vpindex"),
)


def set_vmi_defaults(
    spec: Spec,
    config: defaults.Configuration,
    cpu_model: str = "",
    release: Release = NEWEST,
    live_updates: bool = True,
) -> None:
    """All defaults of a new VMI. cpu_model: that of the cluster's configuration, if it has one.

    live_updates: whether changes reach running guests.
    """
    defaults.set_spec_defaults(spec, config, release)
    architecture, domain = spec.get("architecture", ""), spec["domain"]
    domain.setdefault("firmware", {}).setdefault("uuid", str(uuid.uuid4()))
    _features(domain.setdefault("features", {}), architecture)
    _timers(domain)
    _devices(domain["devices"], architecture)
    _hyperv_needs(domain)
    if architecture == ARM64:
        _boot_arm64(domain["firmware"])
        domain["cpu"].setdefault("model", "host-passthrough")
    domain["cpu"].setdefault("model", cpu_model or "host-model")
    if live_updates and architecture != ARM64:
        _maximum_sockets(domain["cpu"])
    if live_updates and architecture == AMD64:
        _maximum_memory(domain)
    for probe in ("readinessProbe", "livenessProbe"):
        if probe in spec:
            spec[probe] = {**_PROBE, **spec[probe]}


def select_nodes(spec: Spec) -> None:
    """Has a realtime or SEV guest run only where its node can."""
    domain = spec["domain"]
    sev = (domain.get("launchSecurity") or {}).get("sev")
    wanted = {
        "kubevirt.io/realtime": "realtime" in domain["cpu"],
        "kubevirt.io/sev": sev is not None,
        "kubevirt.io/sev-es": bool(((sev or {}).get("policy") or {}).get("encryptedState")),
    }
    labels = {label: "" for label, needed in wanted.items() if needed}
    if labels:
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), **labels}


def _features(features: Spec, architecture: str) -> None:
    acpi = features.setdefault("acpi", {})
    if architecture == S390X:
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
    """Switches on what features need, up to the first need that the VMI forbids; a check refuses that later."""
    hyperv = domain["features"].get("hyperv")
    if hyperv is None:
        return
    for feature, needed in _HYPERV_NEEDS:
        if not (hyperv.get(feature) or {}).get("enabled"):
            continue
        if (hyperv.get(needed) or {}).get("enabled") is False:
            break
        hyperv.setdefault(needed, {})["enabled"] = True
    if (hyperv.get("evmcs") or {}).get("enabled"):
        features = domain["cpu"].setdefault("features", [])
        vmx = next((feature for feature in features if feature["name"] == "vmx"), None)
        if vmx is None:
            features.append({"name": "vmx", "policy": "require"})
        else:
            vmx["policy"] = "require"


def _timers(domain: Spec) -> None:
    for timer in ((domain.get("clock") or {}).get("timer") or {}).values():
        timer.setdefault("present", True)


def _devices(devices: Spec, architecture: str) -> None:
    default_bus = "virtio" if architecture in (ARM64, S390X) else "sata"
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
        model = "diag288" if architecture == S390X else "i6300esb"
        devices["watchdog"].setdefault(model, {}).setdefault("action", "reset")


def _boot_arm64(firmware: Spec) -> None:
    """Nothing but EFI boots there, and not securely."""
    bootloader = firmware.setdefault("bootloader", {"efi": {}})
    if "efi" in bootloader:
        bootloader["efi"].setdefault("secureBoot", False)


def _maximum_sockets(cpu: Spec) -> None:
    """Sockets that a running guest can be given."""
    sockets = cpu.get("sockets", 0)
    if "maxSockets" in cpu or not sockets:
        return
    most = sockets * HOTPLUG_RATIO
    in_socket = cpu.get("cores", 0) * cpu.get("threads", 0)
    if most * in_socket > _MOST_VCPUS:
        most = max(_MOST_VCPUS // in_socket, sockets)
    cpu["maxSockets"] = most


def _maximum_memory(domain: Spec) -> None:
    """Memory that a running guest can be given, where it can be given any."""
    memory, cpu = domain["memory"], domain["cpu"]
    guest = memory.get("guest")
    if guest is None or "maxGuest" in memory:
        return
    pinned = (cpu.get("numa") or {}).get("guestMappingPassthrough") is not None
    if pinned or "realtime" in cpu or "launchSecurity" in domain:
        return
    size = quantity.parse(guest).value
    block = _LEAST_HOTPLUG_MEMORY if (memory.get("hugepages") or {}).get("pageSize") == "1Gi" else _MEMORY_BLOCK
    if size >= _LEAST_HOTPLUG_MEMORY and size % block == 0:
        memory["maxGuest"] = quantity.Quantity.of(size * HOTPLUG_RATIO, quantity.BINARY_SI).text


def _enable(feature: Spec | None) -> None:
    if feature is not None:
        feature.setdefault("enabled", True)
