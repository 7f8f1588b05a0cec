"""Devices other than disks and interfaces, their feature gates, devices through resource claims, and NVIDIA Grace GPUs
(vmi-create-admitter.go, pkg/dra/admitter, grace_io_virtualization.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ...api.fields import ENUMS
from ..config.cluster import KubeVirt
from . import name_errors, networks, since
from .rule import ARM64, DUPLICATE, INVALID, REQUIRED, S390X, Cause, Spec, gated, items, not_enabled

# Volumes with files of the cluster.
_CONFIG_VOLUMES: Final = ("configMap", "secret", "downwardAPI", "serviceAccount")

# validateHostDevicesWithPassthroughEnabled, validateVSOCK, validateDownwardMetrics, validateRebootPolicy
host_devices: Final = gated("HostDevices", "domain.devices.hostDevices", not_enabled("Host Devices"), "HostDevices")
vsock: Final = gated("VSOCK", "domain.devices.autoattachVSOCK", not_enabled("VSOCK"))
downward_metrics: Final = gated(
    "DownwardMetrics",
    "domain.devices.downwardMetrics",
    "downwardMetrics virtio serial is not allowed: DownwardMetrics feature gate is not enabled",
)
reboot_policy: Final = gated(
    "RebootPolicy",
    "domain.rebootPolicy",
    "RebootPolicy is specified but the RebootPolicy feature gate is not enabled",
)


def inputs(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateInputDevices."""
    for entry, field in items(spec, path, "domain.devices.inputs"):
        if entry.get("bus", "") not in ("", *ENUMS["InputBus"]):
            yield Cause(INVALID, "Input device can have only virtio or usb bus.", f"{field}.bus")
        if entry.get("type") != "tablet":
            yield Cause(INVALID, "Input device can have only tablet type.", f"{field}.type")


def virtual_gpu_displays(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateMDEVRamFB."""
    if sum(map(_shows_boot, spec["domain"]["devices"].get("gpus", ()))) > 1:
        yield Cause(INVALID, "configuring multiple displays with ramfb is not valid ", f"{path}.GPUs")


def _shows_boot(gpu: Spec) -> bool:
    """countConfiguredMDEVRamFBs: `ramFB: {}` without `enabled` does not count, an absent `ramFB` does."""
    display = (gpu.get("virtualGPUOptions") or {}).get("display")
    if display is None or display.get("enabled") is False:
        return False
    return "ramFB" not in display or bool(display["ramFB"].get("enabled"))


def sound(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateSoundDevices."""
    device = spec["domain"]["devices"].get("sound")
    if device is None:
        return
    if device.get("model", "") not in ("", *ENUMS["SoundModel"]):
        yield Cause(INVALID, "Sound device type is not supported. Options: 'ich9' or 'ac97'", f"{path}.Sound")
    if not device.get("name"):
        yield Cause(INVALID, "Sound device requires a name field.", f"{path}.Sound")


def filesystems(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateFilesystemsWithVirtIOFSEnabled."""
    volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
    if not kubevirt.release.has(since.FILESYSTEM_GATES):
        return
    config_gate_closed = not kubevirt.has_gate("EnableVirtioFsConfigVolumes")
    storage_gate_closed = not kubevirt.has_gate("EnableVirtioFsStorageVolumes")
    for filesystem in spec["domain"]["devices"].get("filesystems", ()):
        volume = volumes.get(filesystem["name"], {})
        source_name = ""
        if storage_gate_closed and any(source in volume for source in ("persistentVolumeClaim", "dataVolume")):
            source_name = "PVC"
        elif config_gate_closed and any(source in volume for source in _CONFIG_VOLUMES):
            source_name = "config volumes"
        if source_name:
            message = f"virtiofs is not allowed: virtiofs feature gate is not enabled for {source_name}"
            yield Cause(INVALID, message, f"{path}.domain.devices.filesystems")


def video(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateVideoConfig."""
    devices = spec["domain"]["devices"]
    if "video" in devices and not kubevirt.has_gate("VideoConfig"):
        message = "Video configuration is specified but the VideoConfig feature gate is not enabled"
        yield Cause(INVALID, message, f"{path}.video")
    elif "video" in devices and devices.get("autoattachGraphicsDevice") is False:
        message = "Video configuration is not allowed when autoattachGraphicsDevice is set to false"
        yield Cause(INVALID, message, f"{path}.video")


def panic_devices(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validatePanicDevices."""
    devices, field = spec["domain"]["devices"].get("panicDevices", ()), f"{path}.domain.devices.panicDevices"
    if devices and not kubevirt.has_gate("PanicDevices"):
        yield Cause(INVALID, not_enabled("Panic Devices"), field)
        return
    if devices and (spec.get("architecture") or kubevirt.architecture) == S390X:
        yield Cause(INVALID, f"custom panic devices are not supported on {S390X} architecture", field)
    for index, device in enumerate(devices):
        model = device.get("model")
        if model is not None and model not in ENUMS["PanicDeviceModel"]:
            yield Cause(INVALID, f"invalid PanicDeviceModel({model})", f"{field}[{index}].model")


_POOL: Final = "supplementalPool"
_POLICIES: Final = ("shared", "auto", _POOL)


def io_threads(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateIOThreadsPolicy."""
    domain = spec["domain"]
    policy = domain.get("ioThreadsPolicy")
    if policy is None:
        return
    if policy not in _POLICIES or (policy == _POOL and not kubevirt.release.has(since.SUPPLEMENTAL_POOL)):
        yield Cause(INVALID, f"Invalid IOThreadsPolicy ({policy})", f"{path}.domain.ioThreadsPolicy")
    elif policy == _POOL and not (domain.get("ioThreads") or {}).get("supplementalPoolThreadCount"):
        message = "the number of iothreads needs to be set and positive for the dedicated policy"
        yield Cause(INVALID, message, f"{path}.domain.ioThreads.count")


Request = tuple[str, str]
"""The names of a VM's claim and of a request in it."""


class _ClaimedKind(NamedTuple):
    """field: its name in `devices`.

    name: its name in messages. gate: the feature gate of devices through claims. mixes: devices with and without claims
    may be combined.
    """

    field: str
    name: str
    gate: str
    mixes: bool


_CLAIMED_KINDS = (
    _ClaimedKind("gpus", "GPU", "GPUsWithDRA", False),
    _ClaimedKind("hostDevices", "HostDevice", "HostDevicesWithDRA", True),
)


def resource_claims(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateCreationDRA."""
    if not kubevirt.release.has(since.DEVICE_NEEDED):
        return
    if not kubevirt.release.has(since.HOST_DEVICE_CLAIMS):
        yield from _claims_of_gpus(spec, path, kubevirt)
        return
    if kubevirt.release.has(since.CLAIMS_CHECKED):
        yield from _claims(spec.get("resourceClaims", ()), f"{path}.resourceClaims")
    requested: list[tuple[str, str, dict[Request, int]]] = []
    for kind in _CLAIMED_KINDS:
        field = f"{path}.domain.devices.{kind.field}"
        causes, first = _devices(spec["domain"]["devices"].get(kind.field, ()), kind, field, kubevirt)
        yield from causes
        requested.append((f"{kind.name}s", field, first))
    used = {claim for _name, _field, first in requested for claim, _request in first}
    if kubevirt.has_gate("NetworkDevicesWithDRA"):
        requested.append(("Networks", f"{path}.networks", networks.requests(spec)))
    yield from _duplicate_requests(requested)
    if not used <= {claim["name"] for claim in spec.get("resourceClaims", ())}:
        message = (
            "vmi.spec.resourceClaims must specify all claims used in vmi.spec.domain.devices.gpus and "
            "vmi.spec.domain.devices.hostDevices"
        )
        yield Cause(INVALID, message, f"{path}.resourceClaims")


def _claims_of_gpus(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateCreationDRA of the releases that knew claims of GPUs only; their field has `spec` twice."""
    gpus = spec["domain"]["devices"].get("gpus", ())
    about, field = "vmi.spec.domain.devices.gpus", f"{path}.spec.domain.devices.gpus"
    claimed = [gpu for gpu in gpus if _is_claimed(gpu)]
    for gpu in gpus:
        if not gpu.get("deviceName") and not _has_claim(gpu):
            yield Cause(INVALID, f"{about} contains GPUs without deviceName", field)
            return
        if gpu.get("deviceName") and _has_claim(gpu):
            yield Cause(INVALID, f"{about} contains GPUs with both deviceName and claimRequest", field)
    if claimed and not kubevirt.has_gate("GPUsWithDRA"):
        yield Cause(INVALID, f"{about} contains DRA enabled GPUs but feature gate is not enabled", field)
    elif not {gpu.get("claimName") for gpu in claimed} <= {claim["name"] for claim in spec.get("resourceClaims", ())}:
        yield Cause(
            INVALID, f"vmi.spec.resourceClaims must specify all claims used in {about}", f"{path}.resourceClaims"
        )


def _claims(claims: list[Spec], path: str) -> Iterator[Cause]:
    """validateResourceClaims."""
    used = set()
    for index, claim in enumerate(claims):
        field, name = f"{path}[{index}]", claim["name"]
        if not name:
            yield Cause(REQUIRED, f"{field}.name is a required field", f"{field}.name")
        elif name in used:
            yield Cause(DUPLICATE, f'duplicate resourceClaims name "{name}"', f"{field}.name")
        else:
            errors = ", ".join(name_errors.dns_label(name))
            if errors:
                message = f"{field}.name does not conform to the kubernetes DNS_LABEL rules: {errors}"
                yield Cause(INVALID, message, f"{field}.name")
            used.add(name)
        sources = [source for source in ("resourceClaimName", "resourceClaimTemplateName") if source in claim]
        if len(sources) > 1:
            message = "at most one of resourceClaimName or resourceClaimTemplateName may be specified"
            yield Cause(INVALID, message, field)
        if not sources:
            yield Cause(INVALID, "must specify one of: resourceClaimName, resourceClaimTemplateName", field)
        for source in sources:
            for error in name_errors.dns_subdomain(claim[source]):
                yield Cause(INVALID, error, f"{field}.{source}")


def _devices(
    devices: list[Spec], kind: _ClaimedKind, field: str, kubevirt: KubeVirt
) -> tuple[list[Cause], dict[Request, int]]:
    """validateDRADevices: the causes, and the first device for each request."""
    causes: list[Cause] = []
    first: dict[Request, int] = {}
    claimed = {index: device for index, device in enumerate(devices) if _is_claimed(device)}
    others = [device for device in devices if not _is_claimed(device)]
    about = f"vmi.spec.domain.devices.{kind.field} contains"
    if claimed and others and not kind.mixes:
        message = f"{about} both DRA and non-DRA {kind.name}s; each {kind.name} must be either DRA or non-DRA"
        return [Cause(INVALID, message, field)], first
    for device in others:
        if not device.get("deviceName"):
            hint = f"each {kind.name} must specify either a deviceName or a claimRequest"
            message = f"{about} {kind.name}s without deviceName or claimRequest; {hint}"
            causes.append(Cause(REQUIRED, message, field))
        elif _has_claim(device):
            causes.append(Cause(INVALID, f"{about} {kind.name}s with both deviceName and claimRequest", field))
    if claimed and not kubevirt.has_gate(kind.gate):
        message = f"{about} DRA enabled {kind.name}s but feature gate is not enabled"
        return [*causes, Cause(INVALID, message, field)], first
    for index, device in claimed.items():
        missing = [part for part in ("claimName", "requestName") if not device.get(part)]
        for part in missing:
            causes.append(Cause(REQUIRED, f"{part} is required for DRA {kind.name}", f"{field}[{index}].{part}"))
        if missing:
            continue
        request = (device["claimName"], device["requestName"])
        if request in first:
            message = f'duplicate claimName/requestName pair "{"/".join(request)}"'
            causes.append(Cause(DUPLICATE, message, f"{field}[{index}]"))
        first.setdefault(request, index)
    return causes, first


def _has_claim(device: Spec) -> bool:
    return "claimName" in device or "requestName" in device


def _is_claimed(device: Spec) -> bool:
    return not device.get("deviceName") and _has_claim(device)


def _duplicate_requests(requested: list[tuple[str, str, dict[Request, int]]]) -> Iterator[Cause]:
    """pairDuplicateChecker: the same request by devices of two kinds."""
    owners: dict[Request, str] = {}
    for name, field, first in requested:
        for request, index in first.items():
            if request in owners:
                pair = f'"{"/".join(request)}" between {owners[request]} and {name}[{index}]'
                yield Cause(DUPLICATE, f"duplicate claimName/requestName pair {pair}", f"{field}[{index}]")
            else:
                owners[request] = f"{name}[{index}]"


_NVIDIA: Final = "10DE"
_GRACE: Final = ("2342", "2348", "2941")
_ROOT_COMPLEX: Final = "kubevirt.io/placePCIDevicesOnRootComplex"
_NO_HOLE: Final = "kubevirt.io/disablePCIHole64"


def nvidia_grace(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateGraceIOVirtualization."""
    if not kubevirt.release.has(since.NVIDIA_GRACE):
        return
    nvidia_grace, ambiguous = _grace_devices(spec, path, kubevirt)
    enabled = kubevirt.has_gate("GraceIOVirtualization")
    if enabled:
        for field, name in ambiguous:
            needed = "GraceIOVirtualization requires an exact pciVendorSelector"
            yield Cause(INVALID, f'{needed} for NVIDIA PCI host device resource "{name}"', field)
    if nvidia_grace and enabled:
        yield from _grace_requirements(spec, path, kubevirt)
        return
    for field, name in nvidia_grace:
        needed = "GraceIOVirtualization feature gate must be enabled"
        yield Cause(INVALID, f'{needed} for NVIDIA Grace GPU passthrough resource "{name}"', field)


def grace_annotations(spec: Spec, annotations: dict[str, str], path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateGraceIOVirtualizationAnnotations. annotations: the template's. path: the position of its metadata."""
    nvidia_grace, _ambiguous = _grace_devices(spec, "spec", kubevirt)
    if not nvidia_grace or not kubevirt.release.has(since.NVIDIA_GRACE):
        return
    if annotations.get(_ROOT_COMPLEX) == "true":
        message = "GraceIOVirtualization is not compatible with placing PCI devices on the root complex"
        yield Cause(INVALID, message, f"{path}.annotations[{_ROOT_COMPLEX}]")
    if annotations.get(_NO_HOLE) == "true":
        message = "GraceIOVirtualization requires the 64-bit PCI hole"
        yield Cause(INVALID, message, f"{path}.annotations[{_NO_HOLE}]")


def _grace_requirements(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    domain = spec["domain"]
    architecture = spec.get("architecture") or kubevirt.architecture
    machine = (domain.get("machine") or {}).get("type") or kubevirt.machine_type(architecture)
    if architecture != ARM64:
        yield Cause(INVALID, "GraceIOVirtualization requires arm64 architecture", f"{path}.architecture")
    if not machine.startswith("virt"):
        yield Cause(INVALID, 'GraceIOVirtualization requires "virt" machine type', f"{path}.domain.machine.type")
    if not (domain.get("cpu") or {}).get("dedicatedCpuPlacement"):
        field = f"{path}.domain.cpu.dedicatedCpuPlacement"
        yield Cause(REQUIRED, "GraceIOVirtualization requires dedicated CPU placement", field)
    for gate in ("PCINUMAAwareTopology", "IOMMUFD"):
        if not kubevirt.has_gate(gate):
            message = f"{gate} feature gate must be enabled when GraceIOVirtualization is used"
            yield Cause(INVALID, message, f"{path}.domain.devices")


def _grace_devices(spec: Spec, path: str, kubevirt: KubeVirt) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """gracePCIDeviceRequests: (field, resource name) of devices that are Grace GPUs, and of devices that may be."""
    nvidia_grace, ambiguous = [], []
    for kind in ("gpus", "hostDevices"):
        for index, device in enumerate(spec["domain"]["devices"].get(kind, ())):
            name = device.get("deviceName", "")
            vendor, number = _pci_selector(kubevirt.pci_selectors.get(name, ""))
            entry = (f"{path}.domain.devices.{kind}[{index}].deviceName", name)
            if vendor == _NVIDIA and number in _GRACE:
                nvidia_grace.append(entry)
            elif vendor == _NVIDIA and number == "*":
                ambiguous.append(entry)
    return nvidia_grace, ambiguous


def _pci_selector(text: str) -> tuple[str, str]:
    """hwutil.ParsePCIVendorSelector: vendor and device in upper case, or two empty texts."""
    parts = [part.strip().upper().removeprefix("0X") for part in text.split(":")]
    valid = (
        len(parts) == 2
        and re.fullmatch("[0-9A-F]{4}", parts[0])
        and (parts[1] == "*" or re.fullmatch("[0-9A-F]{4}", parts[1]))
    )
    return (parts[0], parts[1]) if valid else ("", "")
