"""Differences between KubeVirt releases in what VMs and VMIs may have, as values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from ..api.release import Release, differences

_BETA: Final = frozenset(
    (
        "DeclarativeHotplugVolumes",
        "GPUsWithDRA",
        "HostDevicesWithDRA",
        "PasstBinding",
        "RebootPolicy",
        "WorkloadEncryptionSEV",
    )
)


class Rules(NamedTuple):
    """The rules of a release. The defaults are the newest release's.

    gates_on: the feature gates that are open unless `disabledFeatureGates` names them. Others are closed unless
    `featureGates` names them.

    Firmware and CPU:
    page_size_field: the field of a VM's huge page size, in virt-api's words.
    io_threads_policies: the permitted values of ioThreadsPolicy.
    checks_acpi: ACPI tables need volumes. knows_msdm: the table MSDM is one of them.
    one_launch_security: exactly one type of launch security may be set, and it must fit the architecture.
    bare_launch_security: launch security without a type needs no gate.
    secure_execution_gate: the gate of launch security on s390x; "" for none.
    tdx_needs_no_smm: secure boot with TDX needs no SMM.
    tells_guest_memory: where memory is missing, virt-api names the guest's memory, too.
    slash_in_machine: patterns of machine types also match a slash.

    Devices:
    needs_binding: an interface must have a binding. binding_gate: the gate of binding plugins, "" for none.
    checks_sata_blocks: the block size of SATA disks is fixed.
    checks_devices: a GPU or host device must name a device or a claim. checks_claims: claims must be well-formed.
    knows_grace: GPUs of NVIDIA Grace have requirements. checks_storage_filesystems: filesystems of claims need a gate.
    config_filesystems_gate, video_gate, panic_gate: the gates of filesystems of secrets and the like, of video devices
    and of panic devices; "" for none. reservation_setting: the configuration, in addition to the feature gate, permits
    persistent reservations.

    receives: WaitAsReceiver is a run strategy. checks_architectures: VMIs have limits on amd64 and s390x, too.
    """

    gates_on: frozenset[str] = _BETA

    page_size_field: str = "memory.hugepages.pageSize"
    io_threads_policies: tuple[str, ...] = ("shared", "auto", "supplementalPool")
    checks_acpi: bool = True
    knows_msdm: bool = True
    one_launch_security: bool = True
    bare_launch_security: bool = True
    secure_execution_gate: str = ""
    tdx_needs_no_smm: bool = True
    tells_guest_memory: bool = True
    slash_in_machine: bool = False

    needs_binding: bool = True
    binding_gate: str = ""
    checks_sata_blocks: bool = True
    checks_devices: bool = True
    checks_claims: bool = True
    knows_grace: bool = True
    checks_storage_filesystems: bool = True
    config_filesystems_gate: str = ""
    video_gate: str = ""
    panic_gate: str = ""
    reservation_setting: bool = True

    receives: bool = True
    checks_architectures: bool = True


# Differences before a release, newest first: a release takes all rows above it, and later rows win.
_BEFORE: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    (
        "1.9.0",
        {
            "gates_on": frozenset(),
            "tdx_needs_no_smm": False,
            "needs_binding": False,
            "checks_claims": False,
            "knows_grace": False,
            "video_gate": "VideoConfig",
            "panic_gate": "PanicDevices",
            "secure_execution_gate": "SecureExecution",
            "reservation_setting": False,
        },
    ),
    ("1.8.0", {"page_size_field": "hugepages.size", "config_filesystems_gate": "EnableVirtioFsConfigVolumes"}),
    ("1.7.0", {"one_launch_security": False, "checks_sata_blocks": False, "tells_guest_memory": False}),
    (
        "1.6.0",
        {
            "checks_devices": False,
            "knows_msdm": False,
            "slash_in_machine": True,
            "bare_launch_security": False,
            "secure_execution_gate": "",
            "video_gate": "",
            "panic_gate": "",
            "receives": False,
        },
    ),
    (
        "1.5.0",
        {
            "io_threads_policies": ("shared", "auto"),
            "binding_gate": "NetworkBindingPlugins",
            "checks_acpi": False,
            "checks_storage_filesystems": False,
            "checks_architectures": False,
            "config_filesystems_gate": "",
        },
    ),
)


@cache
def rules(release: Release) -> Rules:
    """The rules of a release."""
    return Rules(**differences(_BEFORE, release.version))
