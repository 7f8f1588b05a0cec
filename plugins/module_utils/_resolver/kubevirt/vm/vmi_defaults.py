"""The defaults of a VMI beyond its VM's defaults. All functions change the given canonical spec, or a part of it."""

from __future__ import annotations

from typing import Any, Final

from ..cluster import KubeVirt
from .defaults import set_spec_defaults
from .hotplug import live_update_limits, set_maximums

Spec = dict[str, Any]

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
