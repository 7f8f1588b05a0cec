"""Devices other than disks and interfaces, their feature gates, and NVIDIA Grace GPUs (vmi-create-admitter.go,
grace_io_virtualization.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...api import behaviour
from ...api.fields import ENUMS
from ..cluster import KubeVirt
from .rows import Group, Place, Row, closed, gate, if_open, one_of, required
from .rule import ARM64, INVALID, S390X, Cause, Spec

_FILESYSTEM_GATES: Final = {
    "EnableVirtioFsStorageVolumes": ("persistentVolumeClaim", "dataVolume"),
    "EnableVirtioFsConfigVolumes": ("configMap", "secret", "downwardAPI", "serviceAccount"),
}
_VIDEO: Final = "{spec}.video"


def _displays(gpus: list[Spec], place: Place) -> str:
    """validateMDEVRamFB."""
    by_default = place.kubevirt.release.has(behaviour.RAM_FB_BY_DEFAULT)
    shown = sum(_shows_boot(gpu, by_default) for gpu in gpus)
    return "have two displays that show the boot; turn off ramFB of one" if shown > 1 else ""


def _shows_boot(gpu: Spec, by_default: bool) -> bool:
    """countConfiguredMDEVRamFBs: an absent `ramFB` counts. by_default: also `ramFB: {}` without `enabled`."""
    display = (gpu.get("virtualGPUOptions") or {}).get("display")
    if display is None or display.get("enabled") is False:
        return False
    return "ramFB" not in display or bool(display["ramFB"].get("enabled", by_default))


def _filesystem(name: str, place: Place) -> str:
    """validateFilesystemsWithVirtIOFSEnabled."""
    volume = place.named("volumes").get(name, {})
    for gate_name, sources in _FILESYSTEM_GATES.items():
        source = next((source for source in sources if source in volume), "")
        if source:
            return (
                "" if place.kubevirt.has_gate(gate_name) else f"is of a volume of {source}, which {closed(gate_name)}"
            )
    return ""


def _graphics(_video: Spec, place: Place) -> str:
    off = place.spec["domain"]["devices"].get("autoattachGraphicsDevice") is False
    return "excludes autoattachGraphicsDevice: false; remove one of them" if off else ""


def _panic_architecture(devices: list[Spec], place: Place) -> str:
    is_s390x = (place.spec.get("architecture") or place.kubevirt.architecture) == S390X
    return f"must be empty on {S390X}" if devices and is_s390x else ""


def _pool(policy: str, place: Place) -> str:
    count = place.get("domain.ioThreads.supplementalPoolThreadCount")
    needed = policy == "supplementalPool" and not count
    return "supplementalPool needs ioThreads.supplementalPoolThreadCount; set it" if needed else ""


IO_THREADS: Final = Group(  # validateIOThreadsPolicy
    "",
    Row("domain.ioThreadsPolicy", one_of("shared", "auto", "supplementalPool"), since=behaviour.SUPPLEMENTAL_POOL),
    Row("domain.ioThreadsPolicy", one_of("shared", "auto"), until=behaviour.SUPPLEMENTAL_POOL),
    Row("domain.ioThreadsPolicy", _pool, at="{spec}.domain.ioThreads.count", since=behaviour.SUPPLEMENTAL_POOL),
)
INPUTS: Final = Group(  # validateInputDevices
    "domain.devices.inputs[]",
    Row("bus", one_of("", *ENUMS["InputBus"])),
    Row("type", one_of("tablet"), absent=True),
)
DISPLAYS: Final = Group("", Row("domain.devices.gpus", _displays, at="{spec}.GPUs"))
HOST_DEVICES: Final = Group("", Row("domain.devices.hostDevices", gate("HostDevices"), at="{spec}.HostDevices"))
SOUND: Final = Group(  # validateSoundDevices
    "domain.devices.sound",
    Row("model", one_of("", *ENUMS["SoundModel"]), at="{spec}.Sound"),
    required("name", at="{spec}.Sound"),
)
VSOCK: Final = Group("", Row("domain.devices.autoattachVSOCK", gate("VSOCK")))
OTHERS: Final = Group(
    "",
    Row("domain.devices.downwardMetrics", gate("DownwardMetrics")),
    Group(
        "domain.devices.filesystems[]",
        Row("name", _filesystem, at="{spec}.domain.devices.filesystems", since=behaviour.FILESYSTEM_GATES),
    ),
    # validateVideoConfig
    Row("domain.devices.video", gate("VideoConfig"), at=_VIDEO),
    Row("domain.devices.video", _graphics, at=_VIDEO),
    # validatePanicDevices
    Row("domain.devices.panicDevices", gate("PanicDevices")),
    Row("domain.devices.panicDevices", if_open("PanicDevices", _panic_architecture)),
    Group("domain.devices.panicDevices[]", Row("model", if_open("PanicDevices", one_of(*ENUMS["PanicDeviceModel"])))),
    Row("domain.rebootPolicy", gate("RebootPolicy")),
)


_NVIDIA: Final = "10DE"
_GRACE: Final = ("2342", "2348", "2941")
_GRACE_GATE: Final = "GraceIOVirtualization"
_ANNOTATIONS: Final = {
    "kubevirt.io/placePCIDevicesOnRootComplex": "must not be true with an NVIDIA Grace GPU; remove it",
    "kubevirt.io/disablePCIHole64": "must not be true with an NVIDIA Grace GPU; remove it",
}


def nvidia_grace(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateGraceIOVirtualization."""
    if not kubevirt.release.has(behaviour.NVIDIA_GRACE):
        return
    certain, ambiguous = _grace_devices(spec, path, kubevirt)
    enabled = kubevirt.has_gate(_GRACE_GATE)
    for field, name in ambiguous if enabled else ():
        message = f"deviceName {name} needs a pciVendorSelector without * in the KubeVirt object"
        yield Cause(INVALID, message, field)
    if certain and enabled:
        yield from _GRACE_RULES(spec, path, kubevirt)
        return
    for field, name in certain:
        message = f"deviceName {name} is an NVIDIA Grace GPU, which needs the feature gate {_GRACE_GATE}"
        yield Cause(INVALID, f"{message}; enable it in the KubeVirt object, or remove the device", field)


def grace_annotations(spec: Spec, annotations: dict[str, str], path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateGraceIOVirtualizationAnnotations. annotations: the template's. path: the position of its metadata."""
    certain, _ambiguous = _grace_devices(spec, "spec", kubevirt)
    if not certain or not kubevirt.release.has(behaviour.NVIDIA_GRACE):
        return
    for annotation, problem in _ANNOTATIONS.items():
        if annotations.get(annotation) == "true":
            yield Cause(INVALID, f"{annotation} {problem}", f"{path}.annotations[{annotation}]")


def _grace_architecture(architecture: str | None, place: Place) -> str:
    is_arm = (architecture or place.kubevirt.architecture) == ARM64
    return "" if is_arm else "must be arm64 for an NVIDIA Grace GPU"


def _grace_machine(machine: str | None, place: Place) -> str:
    architecture = place.spec.get("architecture") or place.kubevirt.architecture
    is_virt = (machine or place.kubevirt.machine_type(architecture)).startswith("virt")
    return "" if is_virt else "must be virt for an NVIDIA Grace GPU"


def _grace_dedicated(dedicated: bool | None, _place: Place) -> str:
    return "" if dedicated else "must be true for an NVIDIA Grace GPU"


_GRACE_RULES: Final = Group(
    "",
    Row("architecture", _grace_architecture, absent=True),
    Row("domain.machine.type", _grace_machine, absent=True),
    Row("domain.cpu.dedicatedCpuPlacement", _grace_dedicated, absent=True),
    Row("domain.devices", gate("PCINUMAAwareTopology")),
    Row("domain.devices", gate("IOMMUFD")),
)


def _grace_devices(spec: Spec, path: str, kubevirt: KubeVirt) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """gracePCIDeviceRequests: (field, resource name) of devices that are Grace GPUs, and of devices that may be."""
    certain, ambiguous = [], []
    for kind in ("gpus", "hostDevices"):
        for index, device in enumerate(spec["domain"]["devices"].get(kind, ())):
            name = device.get("deviceName", "")
            vendor, number = _pci_selector(kubevirt.pci_selectors.get(name, ""))
            entry = (f"{path}.domain.devices.{kind}[{index}].deviceName", name)
            if vendor == _NVIDIA and number in _GRACE:
                certain.append(entry)
            elif vendor == _NVIDIA and number == "*":
                ambiguous.append(entry)
    return certain, ambiguous


def _pci_selector(text: str) -> tuple[str, str]:
    """hwutil.ParsePCIVendorSelector: vendor and device in upper case, or two empty texts."""
    parts = [part.strip().upper().removeprefix("0X") for part in text.split(":")]
    valid = (
        len(parts) == 2
        and re.fullmatch("[0-9A-F]{4}", parts[0])
        and (parts[1] == "*" or re.fullmatch("[0-9A-F]{4}", parts[1]))
    )
    return (parts[0], parts[1]) if valid else ("", "")
