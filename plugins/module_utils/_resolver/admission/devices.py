"""Devices other than disks and interfaces, and their feature gates (vmi-create-admitter.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..api.fields.enums import ENUMS
from .cause import INVALID, Cause, Spec
from .cluster import S390X, Cluster

_SOUND_MODELS: Final = ENUMS["SoundModel"]


# Volumes with files of the cluster.
_CONFIG_VOLUMES: Final = ("configMap", "secret", "downwardAPI", "serviceAccount")


def inputs(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateInputDevices."""
    for index, entry in enumerate(spec["domain"]["devices"].get("inputs", ())):
        field = f"{path}.domain.devices.inputs[{index}]"
        if entry.get("bus", "") not in ("", *ENUMS["InputBus"]):
            yield Cause(INVALID, "Input device can have only virtio or usb bus.", f"{field}.bus")
        if entry.get("type") != "tablet":
            yield Cause(INVALID, "Input device can have only tablet type.", f"{field}.type")


def virtual_gpu_displays(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateMDEVRamFB."""
    if sum(map(_shows_boot, spec["domain"]["devices"].get("gpus", ()))) > 1:
        yield Cause(INVALID, "configuring multiple displays with ramfb is not valid ", f"{path}.GPUs")


def _shows_boot(gpu: Spec) -> bool:
    """countConfiguredMDEVRamFBs: `ramFB: {}` without `enabled` does not count, an absent `ramFB` does."""
    display = (gpu.get("virtualGPUOptions") or {}).get("display")
    if display is None or display.get("enabled") is False:
        return False
    return "ramFB" not in display or bool(display["ramFB"].get("enabled"))


def host_devices(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateHostDevicesWithPassthroughEnabled."""
    if "hostDevices" in spec["domain"]["devices"] and not cluster.has_gate("HostDevices"):
        message = "Host Devices feature gate is not enabled in kubevirt-config"
        yield Cause(INVALID, message, f"{path}.HostDevices")


def sound(spec: Spec, path: str, _cluster: Cluster) -> Iterator[Cause]:
    """validateSoundDevices."""
    device = spec["domain"]["devices"].get("sound")
    if device is None:
        return
    if device.get("model", "") not in ("", *_SOUND_MODELS):
        yield Cause(INVALID, "Sound device type is not supported. Options: 'ich9' or 'ac97'", f"{path}.Sound")
    if not device.get("name"):
        yield Cause(INVALID, "Sound device requires a name field.", f"{path}.Sound")


def vsock(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateVSOCK."""
    if spec["domain"]["devices"].get("autoattachVSOCK") and not cluster.has_gate("VSOCK"):
        message = "VSOCK feature gate is not enabled in kubevirt-config"
        yield Cause(INVALID, message, f"{path}.domain.devices.autoattachVSOCK")


def downward_metrics(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateDownwardMetrics."""
    if "downwardMetrics" in spec["domain"]["devices"] and not cluster.has_gate("DownwardMetrics"):
        message = "downwardMetrics virtio serial is not allowed: DownwardMetrics feature gate is not enabled"
        yield Cause(INVALID, message, f"{path}.domain.devices.downwardMetrics")


def filesystems(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateFilesystemsWithVirtIOFSEnabled."""
    volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
    gate = cluster.rules.config_filesystems_gate
    config = bool(gate) and not cluster.has_gate(gate)
    storage = cluster.rules.checks_storage_filesystems and not cluster.has_gate("EnableVirtioFsStorageVolumes")
    for filesystem in spec["domain"]["devices"].get("filesystems", ()):
        volume = volumes.get(filesystem["name"], {})
        what = ""
        if storage and any(source in volume for source in ("persistentVolumeClaim", "dataVolume")):
            what = "PVC"
        elif config and any(source in volume for source in _CONFIG_VOLUMES):
            what = "config volumes"
        if what:
            message = f"virtiofs is not allowed: virtiofs feature gate is not enabled for {what}"
            yield Cause(INVALID, message, f"{path}.domain.devices.filesystems")


def video(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateVideoConfig."""
    devices, gate = spec["domain"]["devices"], cluster.rules.video_gate
    if "video" in devices and gate and not cluster.has_gate(gate):
        message = "Video configuration is specified but the VideoConfig feature gate is not enabled"
        yield Cause(INVALID, message, f"{path}.video")
    elif "video" in devices and devices.get("autoattachGraphicsDevice") is False:
        message = "Video configuration is not allowed when autoattachGraphicsDevice is set to false"
        yield Cause(INVALID, message, f"{path}.video")


def panic_devices(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validatePanicDevices."""
    devices, field = spec["domain"]["devices"].get("panicDevices", ()), f"{path}.domain.devices.panicDevices"
    gate = cluster.rules.panic_gate
    if devices and gate and not cluster.has_gate(gate):
        yield Cause(INVALID, "Panic Devices feature gate is not enabled in kubevirt-config", field)
        return
    if devices and (spec.get("architecture") or cluster.architecture) == S390X:
        yield Cause(INVALID, f"custom panic devices are not supported on {S390X} architecture", field)
    for index, device in enumerate(devices):
        model = device.get("model")
        if model is not None and model not in ENUMS["PanicDeviceModel"]:
            yield Cause(INVALID, f"invalid PanicDeviceModel({model})", f"{field}[{index}].model")


def reboot_policy(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateRebootPolicy."""
    if "rebootPolicy" in spec["domain"] and not cluster.has_gate("RebootPolicy"):
        message = "RebootPolicy is specified but the RebootPolicy feature gate is not enabled"
        yield Cause(INVALID, message, f"{path}.domain.rebootPolicy")


def io_threads(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateIOThreadsPolicy."""
    domain = spec["domain"]
    policy = domain.get("ioThreadsPolicy")
    if policy is None:
        return
    if policy not in cluster.rules.io_threads_policies:
        yield Cause(INVALID, f"Invalid IOThreadsPolicy ({policy})", f"{path}.domain.ioThreadsPolicy")
    elif policy == "supplementalPool" and not (domain.get("ioThreads") or {}).get("supplementalPoolThreadCount"):
        message = "the number of iothreads needs to be set and positive for the dedicated policy"
        yield Cause(INVALID, message, f"{path}.domain.ioThreads.count")
