"""Preferred devices (KubeVirt ``ApplyDevicePreferences``, ``applyDiskPreferences``, ``applyInterfacePreferences``)."""

from __future__ import annotations

from typing import Any, Final

from ...api import behaviour
from ...api.release import NEWEST, Release
from ...api.tree import copy

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
_BUSES: Final = {"disk": "preferredDiskBus", "cdrom": "preferredCdromBus", "lun": "preferredLunBus"}
_DISK_FIELDS: Final = (
    ("preferredDiskBlockSize", "blockSize"),
    ("preferredDiskCache", "cache"),
    ("preferredDiskIO", "io"),
)
_BINDINGS: Final = ("bridge", "slirp", "masquerade", "sriov", "macvtap", "passt", "passtBinding", "binding")


def devices(preference: dict[str, Any], spec: dict[str, Any], release: Release = NEWEST) -> None:
    preferred = preference.get("devices")
    if preferred is None:
        return
    target = spec["domain"]["devices"]
    for source, field in _FILLED:
        if source in preferred:
            target.setdefault(field, copy(preferred[source]))
    _disable_hotplug(preferred, target)
    if preferred.get("preferredSoundModel") and "sound" in target:
        target["sound"].setdefault("model", preferred["preferredSoundModel"])
    _video(preferred, target)
    _panic_devices(preferred, target, release)
    _inputs(preferred, target)
    _disks(preferred, target)
    _interfaces(preferred, target, spec.get("networks", []))


def _disable_hotplug(preferred: dict[str, Any], target: dict[str, Any]) -> None:
    """The only device field that a preference overrides: the VM's field is not a pointer, so false counts as unset."""
    if "preferredDisableHotplug" not in preferred:
        return
    target.pop("disableHotplug", None)
    if preferred["preferredDisableHotplug"]:
        target["disableHotplug"] = True


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
    if release.has(behaviour.CREATES_PANIC_DEVICE):
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


def _disks(preferred: dict[str, Any], devices: dict[str, Any]) -> None:
    """A disk without a target becomes a `disk`; of several targets only the first of disk, cdrom, lun counts."""
    for disk in devices.get("disks", ()):
        kind = next((name for name in _BUSES if name in disk), "disk")
        target = disk.setdefault(kind, {})
        if preferred.get(_BUSES[kind]):
            target.setdefault("bus", preferred[_BUSES[kind]])
        if kind != "disk":
            continue
        for source, field in _DISK_FIELDS:
            if source in preferred:
                disk.setdefault(field, copy(preferred[source]))
        if target.get("bus") == "virtio" and "preferredDiskDedicatedIoThread" in preferred:
            disk.setdefault("dedicatedIOThread", preferred["preferredDiskDedicatedIoThread"])


def _interfaces(preferred: dict[str, Any], devices: dict[str, Any], networks: list[dict[str, Any]]) -> None:
    """Masquerade applies only to an interface without a binding on the pod network."""
    for interface in devices.get("interfaces", ()):
        if preferred.get("preferredInterfaceModel"):
            interface.setdefault("model", preferred["preferredInterfaceModel"])
        if "preferredInterfaceMasquerade" not in preferred:
            continue
        if any(binding in interface for binding in _BINDINGS):
            continue
        network = next((network for network in networks if network["name"] == interface["name"]), {})
        if "pod" in network:
            interface["masquerade"] = {}
