"""A cluster's KubeVirt configuration and the differences between releases, as values for the rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from ...api.release import NEWEST, Release, differences
from ..vmi.cluster import Configuration, KubeVirt, updates_live
from ..vmi.cluster import configuration as defaults_of

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


class AdmissionRules(NamedTuple):
    """The rules of a release. The defaults are the newest release's.

    gates_on: the feature gates that are open unless `disabledFeatureGates` names them. Others are closed unless
    `featureGates` names them.

    Firmware and CPU:
    page_size_field: the field of a VM's huge page size, in virt-api's words.
    io_threads_policies: the permitted values of ioThreadsPolicy.
    checks_acpi: ACPI tables need volumes. has_msdm: the table MSDM is one of them.
    one_launch_security: exactly one type of launch security may be set, and it must fit the architecture.
    bare_launch_security: launch security without a type needs no gate.
    secure_execution_gate: the gate of launch security on s390x; "" for none.
    tdx_needs_no_smm: secure boot with TDX needs no SMM.
    names_guest_memory: where memory is missing, virt-api names the guest's memory, too.
    slash_in_machine: patterns of machine types also match a slash.

    Devices:
    needs_binding: an interface must have a binding. binding_gate: the gate of binding plugins, "" for none.
    checks_sata_blocks: the block size of SATA disks is fixed.
    checks_devices: a GPU or host device must name a device or a claim. checks_claims: claims must be well-formed.
    checks_grace: GPUs of NVIDIA Grace have requirements. checks_storage_filesystems: filesystems of claims need a gate.
    config_filesystems_gate, video_gate, panic_gate: the gates of filesystems of secrets and the like, of video devices
    and of panic devices; "" for none. reservation_setting: the configuration, in addition to the feature gate, permits
    persistent reservations.

    wait_as_receiver: WaitAsReceiver is a run strategy. checks_architectures: VMIs have limits on amd64 and s390x, too.
    """

    gates_on: frozenset[str] = _BETA

    page_size_field: str = "memory.hugepages.pageSize"
    io_threads_policies: tuple[str, ...] = ("shared", "auto", "supplementalPool")
    checks_acpi: bool = True
    has_msdm: bool = True
    one_launch_security: bool = True
    bare_launch_security: bool = True
    secure_execution_gate: str = ""
    tdx_needs_no_smm: bool = True
    names_guest_memory: bool = True
    slash_in_machine: bool = False

    needs_binding: bool = True
    binding_gate: str = ""
    checks_sata_blocks: bool = True
    checks_devices: bool = True
    checks_claims: bool = True
    checks_grace: bool = True
    checks_storage_filesystems: bool = True
    config_filesystems_gate: str = ""
    video_gate: str = ""
    panic_gate: str = ""
    reservation_setting: bool = True

    wait_as_receiver: bool = True
    checks_architectures: bool = True


# Differences before a release, newest first: a release takes all rows above it, and later rows win.
_BEFORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "1.9.0": {
        "gates_on": frozenset(),
        "tdx_needs_no_smm": False,
        "needs_binding": False,
        "checks_claims": False,
        "checks_grace": False,
        "video_gate": "VideoConfig",
        "panic_gate": "PanicDevices",
        "secure_execution_gate": "SecureExecution",
        "reservation_setting": False,
    },
    "1.8.0": {"page_size_field": "hugepages.size", "config_filesystems_gate": "EnableVirtioFsConfigVolumes"},
    "1.7.0": {"one_launch_security": False, "checks_sata_blocks": False, "names_guest_memory": False},
    "1.6.0": {
        "checks_devices": False,
        "has_msdm": False,
        "slash_in_machine": True,
        "bare_launch_security": False,
        "secure_execution_gate": "",
        "video_gate": "",
        "panic_gate": "",
        "wait_as_receiver": False,
    },
    "1.5.0": {
        "io_threads_policies": ("shared", "auto"),
        "binding_gate": "NetworkBindingPlugins",
        "checks_acpi": False,
        "checks_storage_filesystems": False,
        "checks_architectures": False,
        "config_filesystems_gate": "",
    },
}


@cache
def rules(release: Release) -> AdmissionRules:
    """The rules of a release."""
    return AdmissionRules(**differences(_BEFORE, release.version))


AMD64: Final = "amd64"
ARM64: Final = "arm64"
S390X: Final = "s390x"

_EMULATED_MACHINES: Final[Mapping[str, tuple[str, ...]]] = {
    AMD64: ("q35*", "pc-q35*"),
    ARM64: ("virt*",),
    S390X: ("s390-ccw-virtio*",),
}


class ClusterConfig(NamedTuple):
    """A cluster's KubeVirt configuration, as far as rules need it.

    defaults: of VMs. developer: `developerConfiguration`, with the feature gates.
    live_updates: changes reach running guests (vmRolloutStrategy). emulated_machines: architecture → patterns of
    permitted machine types. pci_selectors: permitted PCI device → `VENDOR:DEVICE`.
    persistent_reservation: LUNs may be reserved (SCSI). release: of KubeVirt.
    """

    defaults: Configuration = Configuration()
    developer: dict[str, Any] = {}  # noqa: RUF012  never changed
    live_updates: bool = True
    emulated_machines: Mapping[str, tuple[str, ...]] = _EMULATED_MACHINES
    pci_selectors: Mapping[str, str] = {}
    persistent_reservation: bool = False
    release: Release = NEWEST

    def closes(self, gate: str) -> bool:
        """Whether a feature gate that the release requires is not open."""
        return gate in self.release.gates and gate not in (self.developer.get("featureGates") or ())

    @property
    def rules(self) -> AdmissionRules:
        """The differences of the release."""
        return rules(self.release)

    @property
    def architecture(self) -> str:
        """The architecture of VMs without one."""
        return self.defaults.architecture

    def has_gate(self, gate: str) -> bool:
        """Whether a feature gate is open; one that is both enabled and disabled is (featuregate.IsEnabled)."""
        if gate in (self.developer.get("featureGates") or []):
            return True
        return gate in self.rules.gates_on and gate not in (self.developer.get("disabledFeatureGates") or [])

    def machines_for(self, architecture: str) -> tuple[str, ...]:
        """Patterns of the permitted machine types; an unknown architecture counts as amd64."""
        return self.emulated_machines.get(architecture, self.emulated_machines[AMD64])


def read(configuration: dict[str, Any], architecture: str, release: Release = NEWEST) -> ClusterConfig:
    """Reads `spec.configuration` of a KubeVirt object and its `status.defaultArchitecture`.

    Raises ValueError for a malformed configuration.
    """
    try:
        return ClusterConfig(
            defaults=defaults_of(configuration, architecture),
            developer=configuration.get("developerConfiguration") or {},
            live_updates=updates_live(configuration, release),
            emulated_machines=_machines(configuration),
            pci_selectors=_pci_selectors(configuration),
            persistent_reservation=_persistent_reservation(configuration, rules(release).reservation_setting),
            release=release,
        )
    except (AttributeError, TypeError) as error:
        raise ValueError(f"malformed ({' '.join(str(error).split())})") from None


def config_of(kubevirt: KubeVirt) -> ClusterConfig:
    """The configuration of a cluster's KubeVirt. Raises ValueError for a malformed one."""
    return read(dict(kubevirt.settings), kubevirt.configuration.architecture, kubevirt.release)


def _machines(configuration: dict[str, Any]) -> Mapping[str, tuple[str, ...]]:
    """ClusterConfig.GetEmulatedMachines: a list for all architectures overrides those of each."""
    if configuration.get("emulatedMachines") is not None:
        return dict.fromkeys(_EMULATED_MACHINES, tuple(map(str, configuration["emulatedMachines"])))
    machines = dict(_EMULATED_MACHINES)
    for architecture, entry in (configuration.get("architectureConfiguration") or {}).items():
        if architecture in machines and (entry or {}).get("emulatedMachines") is not None:
            machines[architecture] = tuple(map(str, entry["emulatedMachines"]))
    return machines


def _pci_selectors(configuration: dict[str, Any]) -> Mapping[str, str]:
    devices = (configuration.get("permittedHostDevices") or {}).get("pciHostDevices") or []
    return {
        device["resourceName"]: device["pciVendorSelector"]
        for device in devices
        if device.get("resourceName") and device.get("pciVendorSelector")
    }


def _persistent_reservation(configuration: dict[str, Any], setting: bool) -> bool:
    """ClusterConfig.PersistentReservationEnabled: the setting, or the feature gate that it replaced."""
    enabled = (configuration.get("persistentReservationConfiguration") or {}).get("enabled")
    if setting and enabled is not None:
        return bool(enabled)
    return "PersistentReservation" in ((configuration.get("developerConfiguration") or {}).get("featureGates") or [])
