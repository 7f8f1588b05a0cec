"""Volumes of a running VMI: hot-plugged ones are mounted and attached, others get the target that they have."""

from __future__ import annotations

from typing import Any, Final

from node.handler import guest

Manifest = dict[str, Any]

_MOUNTABLE: Final = ("Bound", "Pending", "AttachedToNode")
_UNMOUNTABLE: Final = ("Ready", "MountedToPod", "AttachedToNode")


def advance(vmi: Manifest) -> None:
    """The next step of each volume's status, which virt-controller has made. Changes the VMI."""
    spec, status = vmi["spec"], vmi["status"]
    targets = guest.targets(spec)
    names = {entry["name"] for entry in [*(spec.get("volumes") or []), *(spec.get("utilityVolumes") or [])]}
    for volume in status.get("volumeStatus") or []:
        name = volume["name"]
        if volume.get("hotplugVolume") is None:
            volume["target"] = targets.get(name, "")
        elif name in names:
            _plug(volume, targets.get(name, ""))
        else:
            _unplug(volume)


def _plug(volume: Manifest, target: str) -> None:
    """Mounts a volume, then attaches it: clients see each step, as on a node."""
    name, phase = volume["name"], volume.get("phase")
    if phase == "MountedToPod":
        if target:
            volume["target"] = target
            message = f"Successfully attach hotplugged volume {name} to VM"
            volume.update(phase="Ready", reason="VolumeReady", message=message)
    elif phase in _MOUNTABLE and volume["hotplugVolume"].get("attachPodUID"):
        message = f"Volume {name} has been mounted in virt-launcher pod"
        volume.update(phase="MountedToPod", reason="VolumeMountedToPod", message=message)


def _unplug(volume: Manifest) -> None:
    name = volume["name"]
    volume["target"] = ""
    if volume.get("phase") in _UNMOUNTABLE:
        message = f"Volume {name} has been unmounted from virt-launcher pod"
        volume.update(phase="UnMountedFromPod", reason="VolumeUnMountedFromPod", message=message)
