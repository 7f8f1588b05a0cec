"""Rules only for VMIs: mapped volumes, memory, Hyper-V features, and limits of architectures.

KubeVirt: vmi-create-admitter.go, pkg/virt-api/webhooks/{hyperv,amd64,arm64,s390x}.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..config.cluster import KubeVirt
from ..vmi.defaults import HYPERV_NEEDS
from . import since
from .cpu import page_size_field
from .rule import AMD64, ARM64, INVALID, NOT_SUPPORTED, REQUIRED, S390X, Cause, Spec, amount, items

_RESERVED_PATHS: Final = ("/var/run/kubevirt", "/var/run/libvirt")
_VIDEO: Final = {AMD64: ("vga", "cirrus", "virtio", "ramfb", "bochs"), ARM64: ("virtio", "ramfb"), S390X: ("virtio",)}
_WATCHDOGS: Final = {AMD64: ("I6300ESB", "amd64 only supports"), S390X: ("Diag288", "s390x only supports")}


def container_paths(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateVirtualMachineInstanceSpecVolumeDisks. KubeVirt adds a disk for a volume that is not mapped."""
    devices = spec["domain"]["devices"]
    disks, filesystems = ({device["name"] for device in devices.get(kind, ())} for kind in ("disks", "filesystems"))
    for index, volume in enumerate(spec.get("volumes", ())):
        if "containerPath" not in volume:
            continue
        field, about = f"{path}.domain.volumes[{index}]", f"ContainerPath volume '{volume['name']}'"
        if volume["name"] in disks:
            yield Cause(INVALID, f"{about} must be mapped to a filesystem, not a disk", field)
        if volume["name"] not in filesystems:
            message = f"{about} must have a matching filesystem defined in spec.domain.devices.filesystems"
            yield Cause(INVALID, message, field)
        reserved = [prefix for prefix in _RESERVED_PATHS if volume["containerPath"]["path"].startswith(prefix)]
        if reserved:
            yield Cause(INVALID, f"{about} uses reserved path prefix '{reserved[0]}'", f"{field}.containerPath.path")


def memory(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateVirtualMachineInstanceMandatoryFields."""
    guest = spec["domain"].get("memory") or {}
    requested = amount(spec["domain"]["resources"], "requests", "memory").value
    if requested == 0 and "guest" not in guest and "hugepages" not in guest:
        page_size = page_size_field(kubevirt).rpartition(".")[2]
        fields = [f"{path}.domain.memory.{name}" for name in ("guest", f"hugepages.{page_size}")]
        ways = f"'{fields[0]}', '{fields[1]}' or '{path}.domain.resources.requests.memory'"
        yield Cause(REQUIRED, f"no memory requested, at least one of {ways} must be set", "")


def hyperv(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateVirtualMachineInstanceHyperv, whose fields name the path to the features twice."""
    features = spec["domain"].get("features") or {}
    enlightenments = features.get("hyperv")
    if enlightenments is None:
        return
    own = f"{path}.domain.features.hyperv"
    field = f"{own}.domain.features.hyperv"
    for feature, needed in HYPERV_NEEDS:
        if _is_enabled(enlightenments.get(feature)) and not _is_enabled(enlightenments.get(needed)):
            message = f"'{field}.{feature}' requires '{field}.{needed}', which was disabled."
            yield Cause(INVALID, message, f"{field}.{feature}")
    evmcs = enlightenments.get("evmcs")
    if evmcs is not None and evmcs.get("enabled", True):
        # validateHypervFeatures: KubeVirt adds vmx, but leaves another policy as it is.
        for cpu_feature, feature_field in items(spec, path, "domain.cpu.features"):
            if cpu_feature["name"] == "vmx" and cpu_feature.get("policy") != "require":
                yield Cause(INVALID, "vmx cpu feature has to be set to require policy", f"{feature_field}.policy")
    if "hypervPassthrough" in features:
        message = (
            "Cannot explicitly set hyperV features if HypervPassthrough is being used. "
            "Please use either HyperV or HypervPassthrough."
        )
        yield Cause(INVALID, message, own)


def _is_enabled(state: Spec | None) -> bool:
    return bool((state or {}).get("enabled"))


def architecture(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateVirtualMachineInstancePerArch."""
    name, devices = spec.get("architecture", ""), spec["domain"]["devices"]
    if name != ARM64 and not kubevirt.release.has(since.ARCHITECTURES):
        return
    if name not in _VIDEO:
        yield Cause(INVALID, f"unsupported architecture: {name}", f"{path}.architecture")
        return
    if name == ARM64:
        yield from _arm64(spec, path)
    else:
        model, reason = _WATCHDOGS[name]
        if "watchdog" in devices and devices["watchdog"].keys() - {"name"} != {model.lower()}:
            yield Cause(NOT_SUPPORTED, f"{reason} {model} watchdog device", f"{path}.domain.devices.watchdog")
    video = devices.get("video")
    if video is not None and video.get("type", "") not in _VIDEO[name]:
        message = f"video model '{video.get('type', '')}' is not supported on {name} architecture"
        yield Cause(NOT_SUPPORTED, message, f"{path}.domain.devices.video.type")


def _arm64(spec: Spec, path: str) -> Iterator[Cause]:
    """ValidateVirtualMachineInstanceArm64Setting, except for the video device."""
    domain, devices = spec["domain"], spec["domain"]["devices"]
    if "bios" in ((domain.get("firmware") or {}).get("bootloader") or {}):
        message = "Arm64 does not support bios boot, please change to uefi boot"
        yield Cause(NOT_SUPPORTED, message, f"{path}.domain.firmware.bootloader.bios")
    if (domain.get("cpu") or {}).get("model", "") not in ("", "host-passthrough"):
        message = "currently, host-passthrough is the only model supported on Arm64"
        yield Cause(NOT_SUPPORTED, message, f"{path}.domain.cpu.model")
    for disk, field in items(spec, path, "domain.devices.disks"):
        for target in ("disk", "cdrom", "lun"):
            if (disk.get(target) or {}).get("bus", "") not in ("", "virtio", "scsi"):
                message = "Arm64 not support this disk bus type, please use virtio or scsi"
                yield Cause(NOT_SUPPORTED, message, f"{field}.{target}.bus")
    for device, words in (("watchdog", "Watchdog device"), ("sound", "sound device")):
        if device in devices:
            yield Cause(NOT_SUPPORTED, f"Arm64 not support {words}", f"{path}.domain.devices.{device}")
