"""NVIDIA Grace GPUs and their requirements (grace_io_virtualization.go)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..vmi import defaults
from .cluster_config import ARM64, ClusterConfig
from .rule import INVALID, REQUIRED, Cause, Spec

_NVIDIA: Final = "10DE"
_GRACE: Final = ("2342", "2348", "2941")
_ROOT_COMPLEX: Final = "kubevirt.io/placePCIDevicesOnRootComplex"
_NO_HOLE: Final = "kubevirt.io/disablePCIHole64"


def check(spec: Spec, path: str, config: ClusterConfig) -> Iterator[Cause]:
    """validateGraceIOVirtualization."""
    if not config.rules.checks_grace:
        return
    grace, ambiguous = _requested(spec, path, config)
    enabled = config.has_gate("GraceIOVirtualization")
    if enabled:
        for field, name in ambiguous:
            needed = "GraceIOVirtualization requires an exact pciVendorSelector"
            yield Cause(INVALID, f'{needed} for NVIDIA PCI host device resource "{name}"', field)
    if grace and enabled:
        yield from _requirements(spec, path, config)
        return
    for field, name in grace:
        needed = "GraceIOVirtualization feature gate must be enabled"
        yield Cause(INVALID, f'{needed} for NVIDIA Grace GPU passthrough resource "{name}"', field)


def template_annotations(spec: Spec, annotations: dict[str, str], path: str, config: ClusterConfig) -> Iterator[Cause]:
    """validateGraceIOVirtualizationAnnotations. annotations: the template's. path: of its metadata."""
    grace, _ambiguous = _requested(spec, "spec", config)
    if not grace or not config.rules.checks_grace:
        return
    if annotations.get(_ROOT_COMPLEX) == "true":
        message = "GraceIOVirtualization is not compatible with placing PCI devices on the root complex"
        yield Cause(INVALID, message, f"{path}.annotations[{_ROOT_COMPLEX}]")
    if annotations.get(_NO_HOLE) == "true":
        message = "GraceIOVirtualization requires the 64-bit PCI hole"
        yield Cause(INVALID, message, f"{path}.annotations[{_NO_HOLE}]")


def _requirements(spec: Spec, path: str, config: ClusterConfig) -> Iterator[Cause]:
    domain = spec["domain"]
    architecture = spec.get("architecture") or config.architecture
    machine = (domain.get("machine") or {}).get("type") or defaults.machine_type(architecture, config.defaults)
    if architecture != ARM64:
        yield Cause(INVALID, "GraceIOVirtualization requires arm64 architecture", f"{path}.architecture")
    if not machine.startswith("virt"):
        yield Cause(INVALID, 'GraceIOVirtualization requires "virt" machine type', f"{path}.domain.machine.type")
    if not (domain.get("cpu") or {}).get("dedicatedCpuPlacement"):
        field = f"{path}.domain.cpu.dedicatedCpuPlacement"
        yield Cause(REQUIRED, "GraceIOVirtualization requires dedicated CPU placement", field)
    for gate in ("PCINUMAAwareTopology", "IOMMUFD"):
        if not config.has_gate(gate):
            message = f"{gate} feature gate must be enabled when GraceIOVirtualization is used"
            yield Cause(INVALID, message, f"{path}.domain.devices")


def _requested(spec: Spec, path: str, config: ClusterConfig) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """gracePCIDeviceRequests: (field, resource name) of devices that are Grace GPUs, and of devices that may be."""
    grace, ambiguous = [], []
    for kind in ("gpus", "hostDevices"):
        for index, device in enumerate(spec["domain"]["devices"].get(kind, ())):
            name = device.get("deviceName", "")
            vendor, number = _selector(config.pci_selectors.get(name, ""))
            entry = (f"{path}.domain.devices.{kind}[{index}].deviceName", name)
            if vendor == _NVIDIA and number in _GRACE:
                grace.append(entry)
            elif vendor == _NVIDIA and number == "*":
                ambiguous.append(entry)
    return grace, ambiguous


def _selector(text: str) -> tuple[str, str]:
    """hwutil.ParsePCIVendorSelector: vendor and device in upper case, or two empty texts."""
    parts = [part.strip().upper().removeprefix("0X") for part in text.split(":")]
    valid = (
        len(parts) == 2
        and re.fullmatch("[0-9A-F]{4}", parts[0])
        and (parts[1] == "*" or re.fullmatch("[0-9A-F]{4}", parts[1]))
    )
    return (parts[0], parts[1]) if valid else ("", "")
