"""Preferred devices other than disks and interfaces (KubeVirt ``ApplyDevicePreferences``)."""

from __future__ import annotations

from typing import Any, Final

from ...api.release import NEWEST, Release
from ...api.tree import copy
from .disk import disks
from .interface import interfaces

# Field of the preference, and the VM's field that it sets if absent.
_FILLED: Final = (
    ("preferredAutoattachGraphicsDevice", "autoattachGraphicsDevice"),
    ("preferredAutoattachMemBalloon", "autoattachMemBalloon"),
    ("preferredAutoattachPodInterface", "autoattachPodInterface"),
    ("preferredAutoattachSerialConsole", "autoattachSerialConsole"),
    ("preferredAutoattachInputDevice", "autoattachInputDevice"),
    ("preferredUseVirtioTransitional", "useVirtioTransitional"),
    ("preferredRng", "rng"),
    ("preferredBlockMultiQueue", "blockMultiQueue"),
    ("preferredNetworkInterfaceMultiQueue", "networkInterfaceMultiqueue"),
    ("preferredTPM", "tpm"),
)


def devices(preference: dict[str, Any], spec: dict[str, Any], release: Release = NEWEST) -> None:
    preferred = preference.get("devices")
    if preferred is None:
        return
    target = spec["domain"]["devices"]
    for source, field in _FILLED:
        if source in preferred:
            target.setdefault(field, copy(preferred[source]))
    _disable_hotplug(preferred, target)
    _sound(preferred, target)
    _video(preferred, target)
    _panic_devices(preferred, target, release)
    _inputs(preferred, target)
    disks(preferred, target)
    interfaces(preferred, target, spec.get("networks", []))


def _disable_hotplug(preferred: dict[str, Any], target: dict[str, Any]) -> None:
    """The only device field that a preference overrides: the VM's field is not a pointer, so false counts as unset."""
    if "preferredDisableHotplug" not in preferred:
        return
    target.pop("disableHotplug", None)
    if preferred["preferredDisableHotplug"]:
        target["disableHotplug"] = True


def _sound(preferred: dict[str, Any], target: dict[str, Any]) -> None:
    if preferred.get("preferredSoundModel") and "sound" in target:
        target["sound"].setdefault("model", preferred["preferredSoundModel"])


def _video(preferred: dict[str, Any], target: dict[str, Any]) -> None:
    if "preferredVideoType" not in preferred:
        return
    video = target.setdefault("video", {})
    if preferred["preferredVideoType"]:
        video.setdefault("type", preferred["preferredVideoType"])


def _panic_devices(preferred: dict[str, Any], target: dict[str, Any], release: Release) -> None:
    model = preferred.get("preferredPanicDeviceModel")
    if model is None:
        return
    if release.creates_panic_device:
        target.setdefault("panicDevices", [{}])
    for device in target.get("panicDevices", ()):
        device.setdefault("model", model)


def _inputs(preferred: dict[str, Any], target: dict[str, Any]) -> None:
    """Sets bus and type of the VM's inputs; adds none."""
    for device in target.get("inputs", ()):
        if preferred.get("preferredInputBus"):
            device.setdefault("bus", preferred["preferredInputBus"])
        # `type` is always written, so "" means unset.
        device["type"] = device["type"] or preferred.get("preferredInputType", "")
