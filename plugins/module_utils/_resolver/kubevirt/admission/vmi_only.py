"""Rules only for VMIs: mapped volumes, memory, Hyper-V features, and limits of architectures.

KubeVirt: vmi-create-admitter.go, pkg/virt-api/webhooks/{hyperv,amd64,arm64,s390x}.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...api import behaviour
from ...api.name_rules import quoted
from ..cluster import KubeVirt
from ..vm.vmi_defaults import HYPERV_NEEDS
from .rows import Check, Group, Place, Row, one_of
from .rule import AMD64, ARM64, INVALID, S390X, Cause, Spec, amount

_RESERVED_PATHS: Final = ("/var/run/kubevirt", "/var/run/libvirt")
_VOLUME: Final = "{spec}.domain.volumes[{index}]"
_HYPERV: Final = "domain.features.hyperv"


def _filesystem(_source: Spec, place: Place) -> str:
    if place.entry["name"] in place.named("domain.devices.disks"):
        return "needs a filesystem instead of a disk; add one of its name to domain.devices.filesystems"
    missing = "needs a filesystem; add one of its name to domain.devices.filesystems"
    return "" if place.entry["name"] in place.named("domain.devices.filesystems") else missing


def _not_reserved(directory: str, _place: Place) -> str:
    reserved = any(directory.startswith(prefix) for prefix in _RESERVED_PATHS)
    return f"{directory} belongs to KubeVirt; choose another" if reserved else ""


def _memory(spec: Spec, _path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateVirtualMachineInstanceMandatoryFields, which names no field."""
    guest = spec["domain"].get("memory") or {}
    requested = amount(spec["domain"]["resources"], "requests", "memory").value
    if requested == 0 and "guest" not in guest and "hugepages" not in guest:
        yield Cause(INVALID, "the guest has no memory; set domain.memory.guest", "")


def _enlightenment(feature: str, needed: str) -> Row:
    """ValidateVirtualMachineInstanceHyperv, whose fields name the path to the features twice."""

    def check(state: Spec, place: Place) -> str:
        other = place.get(f"{_HYPERV}.{needed}") or {}
        return f"needs {needed}; enable it" if state.get("enabled") and not other.get("enabled") else ""

    return Row(f"{_HYPERV}.{feature}", check, at=f"{{spec}}.{_HYPERV}.{_HYPERV}.{feature}")


def _vmx(policy: str | None, place: Place) -> str:
    """validateHypervFeatures: KubeVirt adds vmx, but leaves another policy as it is."""
    evmcs = place.spec["domain"].get("features", {}).get("hyperv", {}).get("evmcs")
    wrong = evmcs is not None and evmcs.get("enabled", True) and place.entry["name"] == "vmx" and policy != "require"
    return "must be require for vmx, which evmcs of Hyper-V needs" if wrong else ""


def _passthrough(_features: Spec, place: Place) -> str:
    both = "hypervPassthrough" in place.spec["domain"]["features"]
    return "excludes hypervPassthrough; remove one of them" if both else ""


RULES: Final = Group(
    "",
    Group(  # validateVirtualMachineInstanceSpecVolumeDisks; KubeVirt adds a disk for a volume that is not mapped
        "volumes[]",
        Row("containerPath", _filesystem, at=_VOLUME),
        Row("containerPath.path", _not_reserved, at=f"{_VOLUME}.containerPath.path"),
    ),
    _memory,
)
HYPERV: Final = Group(
    "",
    *(_enlightenment(feature, needed) for feature, needed in HYPERV_NEEDS),
    Group("domain.cpu.features[]", Row("policy", _vmx, absent=True)),
    Row(_HYPERV, _passthrough),
)


def _watchdog(model: str, architecture: str) -> Check:
    problem = f"must be {model} on {architecture}"
    return lambda device, _place: "" if device.keys() - {"name"} == {model} else problem


def _never(architecture: str) -> Check:
    return lambda _value, _place: f"is not possible on {architecture}; remove it"


def _video(*models: str) -> Group:
    return Group("video", Row("type", one_of(*models), absent=True))


_OF_ARCHITECTURE: Final = {
    AMD64: Group(
        "domain.devices",
        Row("watchdog", _watchdog("i6300esb", AMD64)),
        _video("vga", "cirrus", "virtio", "ramfb", "bochs"),
    ),
    S390X: Group(
        "domain.devices",
        Row("watchdog", _watchdog("diag288", S390X)),
        _video("virtio"),
    ),
    ARM64: Group(
        "domain",
        Row("firmware.bootloader.bios", _never(ARM64)),
        Row("cpu.model", one_of("", "host-passthrough")),
        Group(
            "devices.disks[]",
            *(Row(f"{target}.bus", one_of("", "virtio", "scsi")) for target in ("disk", "cdrom", "lun")),
        ),
        Row("devices.watchdog", _never(ARM64)),
        Row("devices.sound", _never(ARM64)),
        Group("devices", _video("virtio", "ramfb")),
    ),
}


def architecture(spec: Spec, path: str, kubevirt: KubeVirt) -> list[Cause]:
    """ValidateVirtualMachineInstancePerArch."""
    name = spec.get("architecture", "")
    if name != ARM64 and not kubevirt.release.has(behaviour.ARCHITECTURES):
        return []
    if name not in _OF_ARCHITECTURE:
        message = f"architecture must be amd64, arm64 or s390x, not {quoted(name)}"
        return [Cause(INVALID, message, f"{path}.architecture")]
    return _OF_ARCHITECTURE[name](spec, path, kubevirt)
