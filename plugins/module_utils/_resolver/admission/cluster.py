"""A cluster's KubeVirt configuration as values for the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..api.release import NEWEST, Release
from ..instancetype.vmi.cluster import updates_live
from ..instancetype.vmi.configuration import Configuration
from ..instancetype.vmi.configuration import configuration as defaults_of
from . import gates
from .releases import Rules, rules

AMD64: Final = "amd64"
ARM64: Final = "arm64"
S390X: Final = "s390x"

_EMULATED_MACHINES: Final[Mapping[str, tuple[str, ...]]] = {
    AMD64: ("q35*", "pc-q35*"),
    ARM64: ("virt*",),
    S390X: ("s390-ccw-virtio*",),
}


class Cluster(NamedTuple):
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

    def closed_gates(self) -> frozenset[str]:
        """Required feature gates of the release that are not open."""
        return self.release.gates.difference(self.developer.get("featureGates") or ())

    @property
    def rules(self) -> Rules:
        """The differences of the release."""
        return rules(self.release)

    @property
    def architecture(self) -> str:
        """The architecture of VMs without one."""
        return self.defaults.architecture

    def has_gate(self, gate: str) -> bool:
        """Whether a feature gate is open."""
        return gates.is_open(gate, self.developer, self.rules.gates_on)

    def machines_for(self, architecture: str) -> tuple[str, ...]:
        """Patterns of the permitted machine types; an unknown architecture counts as amd64."""
        return self.emulated_machines.get(architecture, self.emulated_machines[AMD64])


def read(configuration: dict[str, Any], architecture: str, release: Release = NEWEST) -> Cluster:
    """Reads `spec.configuration` of a KubeVirt object and its `status.defaultArchitecture`.

    Raises ValueError for a malformed configuration.
    """
    try:
        return Cluster(
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
