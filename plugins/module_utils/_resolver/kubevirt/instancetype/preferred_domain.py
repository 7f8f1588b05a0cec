"""Preferred fields of the guest other than devices (KubeVirt ``applyCPUPreferences``, ``applyFeaturePreferences``,
``applyFirmwarePreferences``, ``applyMachinePreferences``, ``applyClockPreferences``,
``applyLaunchSecurityPreferences``). The preferred topology is part of `apply.topology`."""

from __future__ import annotations

from typing import Any, Final

from ...api import behaviour
from ...api.errors import Panic
from ...api.release import NEWEST, Release
from ...api.tree import copy

_FILLED: Final = (
    ("preferredApic", "apic"),
    ("preferredKvm", "kvm"),
    ("preferredPvspinlock", "pvspinlock"),
    ("preferredSmm", "smm"),
)


def cpu_features(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """Appends features that the VM does not name. Raises Panic for a VM without cpu, as KubeVirt does."""
    features = preference.get("cpu", {}).get("preferredCPUFeatures")
    if not features:
        return
    if "cpu" not in spec["domain"]:
        raise Panic("preferred CPU features need an instancetype or a cpu object in the VM")
    cpu = spec["domain"]["cpu"]
    own = {feature["name"] for feature in cpu.get("features", [])}
    added = [dict(feature) for feature in features if feature["name"] not in own]
    if added:
        cpu["features"] = cpu.get("features", []) + added


def features(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """acpi is overridden (its field in the VM is not a pointer); hyperv is merged by flag; others are set if absent."""
    preferred = preference.get("features")
    if preferred is None:
        return
    target = spec["domain"].setdefault("features", {"acpi": {}})
    if "preferredAcpi" in preferred:
        target["acpi"] = copy(preferred["preferredAcpi"])
    for source, field in _FILLED:
        if source in preferred:
            target.setdefault(field, copy(preferred[source]))
    if "preferredHyperv" in preferred:
        flags = target.setdefault("hyperv", {})
        for flag, state in preferred["preferredHyperv"].items():
            flags.setdefault(flag, copy(state))


def firmware(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """The steps follow KubeVirt's order; each sees the choice of the step before."""
    preferred = preference.get("firmware")
    if preferred is None:
        return
    bootloader = spec["domain"].setdefault("firmware", {}).setdefault("bootloader", {})
    if preferred.get("preferredUseBios") and _unchosen(bootloader):
        bootloader["bios"] = {}
    if "preferredUseBiosSerial" in preferred and "bios" in bootloader:
        bootloader["bios"].setdefault("useSerial", preferred["preferredUseBiosSerial"])
    if "preferredEfi" in preferred and _unchosen(bootloader):
        # It overrides the deprecated fields below.
        bootloader["efi"] = dict(preferred["preferredEfi"])
        return
    if preferred.get("preferredUseEfi") and _unchosen(bootloader):
        bootloader["efi"] = {}
    if "preferredUseSecureBoot" in preferred and "efi" in bootloader:
        bootloader["efi"].setdefault("secureBoot", preferred["preferredUseSecureBoot"])


def _unchosen(bootloader: dict[str, Any]) -> bool:
    return "bios" not in bootloader and "efi" not in bootloader


def machine(preference: dict[str, Any], spec: dict[str, Any], release: Release = NEWEST) -> None:
    preferred = preference.get("machine", {}).get("preferredMachineType", "")
    if not preferred and not (release.has(behaviour.LEAVES_EMPTY_MACHINE) and "machine" in preference):
        return
    target = spec["domain"].setdefault("machine", {"type": ""})
    target["type"] = target["type"] or preferred


def clock(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """Offset and timers each apply as a whole; a VM's `utc`, `timezone` or `timer`, even empty, override them."""
    preferred = preference.get("clock")
    if preferred is None:
        return
    target = spec["domain"].setdefault("clock", {})
    if "utc" not in target and "timezone" not in target:
        target.update(copy(preferred.get("preferredClockOffset", {})))
    if "preferredTimer" in preferred:
        target.setdefault("timer", copy(preferred["preferredTimer"]))


def launch_security(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """Only if neither VM nor instancetype has one."""
    if "preferredLaunchSecurity" in preference:
        spec["domain"].setdefault("launchSecurity", copy(preference["preferredLaunchSecurity"]))
