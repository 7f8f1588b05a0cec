"""Preferred BIOS or EFI (KubeVirt ``applyFirmwarePreferences``)."""

from __future__ import annotations

from typing import Any


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
