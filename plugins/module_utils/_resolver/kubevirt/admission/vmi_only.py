"""Rules only for VMIs: mapped volumes, memory, Hyper-V features, and limits of architectures.

KubeVirt: vmi-create-admitter.go, pkg/virt-api/webhooks/{hyperv,amd64,arm64,s390x}.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..config.cluster import KubeVirt
from ..vmi.defaults import HYPERV_NEEDS
from .rule import AMD64, ARM64, INVALID, NOT_SUPPORTED, REQUIRED, S390X, Cause, Spec, amount, rules

_RESERVED_PATHS: Final = ("/var/run/kubevirt", "/var/run/libvirt")
_VIDEO: Final = {AMD64: ("vga", "cirrus", "virtio", "ramfb", "bochs"), ARM64: ("virtio", "ramfb"), S390X: ("virtio",)}
_WATCHDOGS: Final = {AMD64: ("I6300ESB", "amd64 only supports"), S390X: ("Diag288", "s390x only supports")}


def mapped(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateVirtualMachineInstanceSpecVolumeDisks. KubeVirt adds a disk for a volume that is not mapped."""
    devices = spec["domain"]["devices"]
    disks = {disk["name"] for disk in devices.get("disks", ())}
    filesystems = {filesystem["name"] for filesystem in devices.get("filesystems", ())}
    for index, volume in enumerate(spec.get("volumes", ())):
        field, name = f"{path}.domain.volumes[{index}]", volume["name"]
        if "containerPath" in volume:
            yield from _container_path(volume, name in disks, name in filesystems, field)


def _container_path(volume: Spec, on_disk: bool, on_filesystem: bool, field: str) -> Iterator[Cause]:
    about = f"ContainerPath volume '{volume['name']}'"
    if on_disk:
        yield Cause(INVALID, f"{about} must be mapped to a filesystem, not a disk", field)
    if not on_filesystem:
        message = f"{about} must have a matching filesystem defined in spec.domain.devices.filesystems"
        yield Cause(INVALID, message, field)
    reserved = next((prefix for prefix in _RESERVED_PATHS if volume["containerPath"]["path"].startswith(prefix)), None)
    if reserved is not None:
        yield Cause(INVALID, f"{about} uses reserved path prefix '{reserved}'", f"{field}.containerPath.path")


def memory(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateVirtualMachineInstanceMandatoryFields."""
    guest = spec["domain"].get("memory") or {}
    requested = amount(spec["domain"]["resources"], "requests", "memory").value
    if requested == 0 and "guest" not in guest and "hugepages" not in guest:
        page_size = rules(kubevirt.release).page_size_field.rpartition(".")[2]
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
        yield from _vmx((spec["domain"].get("cpu") or {}).get("features", ()), f"{path}.domain.cpu.features")
    if "hypervPassthrough" in features:
        message = (
            "Cannot explicitly set hyperV features if HypervPassthrough is being used. "
            "Please use either HyperV or HypervPassthrough."
        )
        yield Cause(INVALID, message, own)


def _vmx(features: list[Spec], field: str) -> Iterator[Cause]:
    """validateHypervFeatures: KubeVirt adds vmx, but leaves another policy as it is."""
    for index, feature in enumerate(features):
        if feature["name"] == "vmx" and feature.get("policy") != "require":
            message = "vmx cpu feature has to be set to require policy"
            yield Cause(INVALID, message, f"{field}[{index}].policy")


def _is_enabled(state: Spec | None) -> bool:
    return bool((state or {}).get("enabled"))


def architecture(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateVirtualMachineInstancePerArch."""
    name, devices = spec.get("architecture", ""), spec["domain"]["devices"]
    if name != ARM64 and not rules(kubevirt.release).checks_architectures:
        return
    if name not in _VIDEO:
        yield Cause(INVALID, f"unsupported architecture: {name}", f"{path}.architecture")
        return
    if name == ARM64:
        yield from _arm64(spec, path)
    else:
        yield from _watchdog(devices.get("watchdog"), name, f"{path}.domain.devices.watchdog")
    video = devices.get("video")
    if video is not None and video.get("type", "") not in _VIDEO[name]:
        message = f"video model '{video.get('type', '')}' is not supported on {name} architecture"
        yield Cause(NOT_SUPPORTED, message, f"{path}.domain.devices.video.type")


def _watchdog(watchdog: Spec | None, architecture_: str, field: str) -> Iterator[Cause]:
    model, reason = _WATCHDOGS[architecture_]
    if watchdog is not None and {name for name in watchdog if name != "name"} != {model.lower()}:
        yield Cause(NOT_SUPPORTED, f"{reason} {model} watchdog device", field)


def _arm64(spec: Spec, path: str) -> Iterator[Cause]:
    """ValidateVirtualMachineInstanceArm64Setting, except for the video device."""
    domain, devices = spec["domain"], spec["domain"]["devices"]
    if "bios" in ((domain.get("firmware") or {}).get("bootloader") or {}):
        message = "Arm64 does not support bios boot, please change to uefi boot"
        yield Cause(NOT_SUPPORTED, message, f"{path}.domain.firmware.bootloader.bios")
    if (domain.get("cpu") or {}).get("model", "") not in ("", "host-passthrough"):
        message = "currently, host-passthrough is the only model supported on Arm64"
        yield Cause(NOT_SUPPORTED, message, f"{path}.domain.cpu.model")
    for index, disk in enumerate(devices.get("disks", ())):
        for target in ("disk", "cdrom", "lun"):
            if (disk.get(target) or {}).get("bus", "") not in ("", "virtio", "scsi"):
                message = "Arm64 not support this disk bus type, please use virtio or scsi"
                yield Cause(NOT_SUPPORTED, message, f"{path}.domain.devices.disks[{index}].{target}.bus")
    for device, words in (("watchdog", "Watchdog device"), ("sound", "sound device")):
        if device in devices:
            yield Cause(NOT_SUPPORTED, f"Arm64 not support {words}", f"{path}.domain.devices.{device}")
