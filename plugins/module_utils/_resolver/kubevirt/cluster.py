"""A cluster's KubeVirt, its configuration and its objects, on which all judgements of VMs depend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from ..api import behaviour, errors, quantity
from ..api import release as releases
from ..api.manifest import Manifest
from ..api.release import NEWEST, OLDEST, Release
from . import gates
from .instancetype.lookup import Lookup

DEFAULT_ARCHITECTURE: Final = "amd64"
_MACHINE_TYPES: Final = {"amd64": "q35", "arm64": "virt", "s390x": "s390-ccw-virtio"}
_EMULATED_MACHINES: Final[Mapping[str, tuple[str, ...]]] = {
    "amd64": ("q35*", "pc-q35*"),
    "arm64": ("virt*",),
    "s390x": ("s390-ccw-virtio*",),
}
CPU_REQUEST: Final = "100m"
_PERMITTED: Final = ("pciHostDevices", "mediatedDevices", "usb")
_NETWORK_INTERFACES: Final = ("bridge", "masquerade", "slirp")


def _is_valid(spec: Mapping[str, Any]) -> bool:
    """Whether KubeVirt accepts a configuration (`spec.configuration`); otherwise it uses its defaults."""
    developer_configuration = spec.get("developerConfiguration") or {}
    try:
        quantity.parse(str(spec.get("cpuRequest") or CPU_REQUEST))
    except errors.QuantityError:
        return False
    return (
        (spec.get("imagePullPolicy") or "Always") in ("Always", "Never", "IfNotPresent")
        and ((spec.get("network") or {}).get("defaultNetworkInterface") or "bridge") in _NETWORK_INTERFACES
        and (developer_configuration.get("memoryOvercommit") or 100) > 0
        and (developer_configuration.get("cpuAllocationRatio") or 10) > 0
        and 0 <= (developer_configuration.get("pvcTolerateLessSpaceUpToPercent") or 0) <= 100
    )


_NOTHING: Final[Mapping[str, Any]] = {}
_CONTROLLER: Final = "system:serviceaccount:{}:kubevirt-controller"
_LIVE_UPDATE: Final = "LiveUpdate"
_STAGE: Final = "Stage"


@dataclass(frozen=True, eq=False, repr=False)
class KubeVirt:
    """The KubeVirt of a cluster, with its own defaults for what is not set.

    release: the behaviour of its release. settings: `spec.configuration` of its object. architecture: the default of
    VMs.
    version: the text that the cluster reports, such as ``v1.6.2``, also of a custom build; "" if unknown.
    annotations: the annotations of the object. controller: the user name of virt-controller.
    assumption: one line about unreadable settings: the assumed values and the reason; "" if nothing.
    requests_plugs: the task requests that hotpluggable volumes are plugged, as a VM has them.
    opens_all_gates: all feature gates of the release are open, for what some configuration would accept.
    update_methods: how KubeVirt brings updates to running guests by itself, `spec.workloadUpdateStrategy`.
    """

    release: Release
    settings: Mapping[str, Any] = field(default_factory=dict)
    architecture: str = DEFAULT_ARCHITECTURE
    version: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    controller: str = _CONTROLLER.format("kubevirt")
    assumption: str = ""
    requests_plugs: bool = False
    opens_all_gates: bool = False
    update_methods: Sequence[str] = ()

    @cached_property
    def configuration(self) -> Mapping[str, Any]:
        """The settings, which KubeVirt ignores as a whole if one of them is invalid."""
        return self.settings if _is_valid(self.settings) else _NOTHING

    @cached_property
    def developer_configuration(self) -> Mapping[str, Any]:
        """The developerConfiguration."""
        return self.configuration.get("developerConfiguration") or _NOTHING

    def has_gate(self, gate: str) -> bool:
        """Whether a feature gate is open, or not needed."""
        configuration = {"featureGates": [gate]} if self.opens_all_gates else self.developer_configuration
        return gates.is_open(gate, self.release, configuration)

    @property
    def closed_gates(self) -> frozenset[str]:
        """The feature gates that the release needs and that are not open."""
        return frozenset(gate for gate in gates.required(self.release) if not self.has_gate(gate))

    @cached_property
    def cpu_request(self) -> str:
        """The CPU request of VMs without one, a quantity."""
        return quantity.canonical(str(self.configuration.get("cpuRequest") or CPU_REQUEST))

    @property
    def memory_overcommit(self) -> int:
        """The guests' memory in percent of their pods' requests."""
        return self.developer_configuration.get("memoryOvercommit") or 100

    @property
    def eviction_strategy(self) -> str:
        return self.configuration.get("evictionStrategy") or "None"

    @property
    def migrates_for_updates(self) -> bool:
        """Whether KubeVirt migrates guests by itself for updates that need it."""
        return "LiveMigrate" in self.update_methods

    @cached_property
    def network(self) -> Mapping[str, Any]:
        """The configuration of networks."""
        return self.configuration.get("network") or _NOTHING

    @property
    def network_interface(self) -> str:
        """The binding of an interface that is added: bridge, masquerade or slirp."""
        return self.network.get("defaultNetworkInterface") or "bridge"

    @property
    def bridge_permitted(self) -> bool:
        """Whether a bridge may be on the pod network."""
        permitted = self.network.get("permitBridgeInterfaceOnPodNetwork")
        return permitted is None or bool(permitted)

    def machine_type(self, architecture: str) -> str:
        """The machine type of VMs without one; an unknown architecture counts as amd64."""
        common = self.configuration.get("machineType")
        return common or self._machine_types.get(architecture) or self._machine_types["amd64"]

    @cached_property
    def _machine_types(self) -> Mapping[str, str]:
        # The machine type of s390x is new in 1.7; the CRD of older releases drops it.
        return {name: self._by_architecture(name).get("machineType") or own for name, own in _MACHINE_TYPES.items()}

    def emulated_machines(self, architecture: str) -> tuple[str, ...]:
        """Patterns of the permitted machine types; an unknown architecture counts as amd64.

        ClusterConfig.GetEmulatedMachines: a list for all architectures overrides the list of each one.
        """
        return self._emulated_machines.get(architecture, self._emulated_machines["amd64"])

    @cached_property
    def _emulated_machines(self) -> Mapping[str, tuple[str, ...]]:
        common = self.configuration.get("emulatedMachines")
        machines = {}
        for name, own in _EMULATED_MACHINES.items():
            patterns = common if common is not None else self._by_architecture(name).get("emulatedMachines")
            machines[name] = own if patterns is None else tuple(map(str, patterns))
        return machines

    def _by_architecture(self, name: str) -> Mapping[str, Any]:
        return (self.configuration.get("architectureConfiguration") or _NOTHING).get(name) or _NOTHING

    @cached_property
    def pci_selectors(self) -> Mapping[str, str]:
        """Permitted PCI device → `VENDOR:DEVICE`."""
        devices = (self.configuration.get("permittedHostDevices") or _NOTHING).get("pciHostDevices") or ()
        return {
            device["resourceName"]: device["pciVendorSelector"]
            for device in devices
            if device.get("resourceName") and device.get("pciVendorSelector")
        }

    @cached_property
    def permitted_devices(self) -> frozenset[str] | None:
        """The devices of nodes that guests may have; None if the configuration has no list."""
        permitted = self.configuration.get("permittedHostDevices")
        if permitted is None:
            return None
        return frozenset(
            device.get("resourceName") or "" for field in _PERMITTED for device in permitted.get(field) or ()
        )

    @property
    def reserves_persistently(self) -> bool | None:
        """Whether LUNs may be reserved (SCSI), by the setting that replaced a feature gate; None if it is not set."""
        enabled = (self.configuration.get("persistentReservationConfiguration") or _NOTHING).get("enabled")
        return None if enabled is None else bool(enabled)

    @cached_property
    def live_updates(self) -> bool:
        """Whether changes of a VM reach its running guest; otherwise they wait for a restart, except for interfaces and
        volumes.
        """
        default = _LIVE_UPDATE if self.release.has(behaviour.UPDATES_LIVE_BY_DEFAULT) else _STAGE
        strategy = self.configuration.get("vmRolloutStrategy") or default
        return bool(strategy == _LIVE_UPDATE) and self.has_gate(gates.LIVE_UPDATE)

    @property
    def plugs_volumes(self) -> bool:
        """Whether a running guest gets the hotpluggable volumes of its VM. The gate of the older way, by request,
        prevails.
        """
        if self.has_gate(gates.PLUG_BY_REQUEST):
            return self.requests_plugs
        return self.has_gate(gates.PLUG_DECLARED)

    @property
    def changes_networks(self) -> bool:
        """Whether an interface of a running guest gets another Multus network."""
        return self.has_gate(gates.NETWORKS)

    def check(self) -> None:
        """Raises ValueError for malformed settings."""
        try:
            self._read_settings()
        except (AttributeError, TypeError) as error:
            raise ValueError(f"malformed ({' '.join(str(error).split())})") from None

    def _read_settings(self) -> tuple[object, ...]:
        """Reads all settings that may be malformed."""
        return (
            frozenset(self.developer_configuration.get("featureGates") or ()),
            self.cpu_request,
            self.machine_type(""),
            self.emulated_machines(""),
            self.pci_selectors,
            self.permitted_devices,
            self.bridge_permitted,
            self.reserves_persistently,
            self.live_updates,
            self.plugs_volumes,
        )


class Cluster(NamedTuple):
    """A cluster with KubeVirt.

    objects: looks up instancetypes, preferences, revisions and volumes. kubevirt: the release and the configuration.
    """

    objects: Lookup
    kubevirt: KubeVirt = KubeVirt(NEWEST)

    @property
    def release(self) -> Release:
        return self.kubevirt.release


def kubevirt_of(manifest: Manifest | None, version: str, problem: str = "") -> KubeVirt:
    """The KubeVirt for its object (None: unreadable, because of `problem`).

    version: the release, "" if unknown. Unknown facts have the defaults of KubeVirt or of the newest release, and
    `assumption` says which.
    """
    release, assumptions = _release(version)
    if manifest is not None:
        try:
            return _read(manifest, release, version, "; ".join(assumptions))
        except (AttributeError, TypeError) as error:
            problem = f"the object is malformed ({' '.join(str(error).split())})"
        except ValueError as error:
            problem = f"the object is {error}"
    assumptions.append(
        f"cannot read the configuration of the cluster's KubeVirt, so the task assumes the defaults: {problem}"
    )
    return KubeVirt(release, version=version, assumption="; ".join(assumptions))


def _read(manifest: Manifest, release: Release, version: str, assumption: str) -> KubeVirt:
    metadata, spec, status = (manifest.get(part) or {} for part in ("metadata", "spec", "status"))
    kubevirt = KubeVirt(
        release,
        spec.get("configuration") or {},
        status.get("defaultArchitecture") or DEFAULT_ARCHITECTURE,
        version,
        metadata.get("annotations") or {},
        _CONTROLLER.format(metadata.get("namespace") or "kubevirt"),
        assumption,
        update_methods=tuple((spec.get("workloadUpdateStrategy") or {}).get("workloadUpdateMethods") or ()),
    )
    kubevirt.check()
    return kubevirt


def at_release(kubevirt: KubeVirt, version: str, settings: Mapping[str, Any] | None = None) -> KubeVirt:
    """The same KubeVirt at another release. settings: the new `spec.configuration`, None to keep the current one.

    Raises UnknownRelease, also for an older one, and ValueError for a malformed configuration.
    """
    release = releases.parse_known_release(version, releases.UPCOMING) if version else kubevirt.release
    unreleased = (
        f"KubeVirt {version} is not released yet; the task takes it as its sources were on {releases.UPCOMING_SOURCES};"
        " with 1.10, KubeVirt supports only the newest three minor versions"
    )
    if releases.is_older(version, kubevirt.version):
        raise releases.UnknownRelease(
            f"{version} is older than {kubevirt.version}, which the cluster runs, and KubeVirt has no downgrade;"
            " write a later release"
        )
    result = replace(
        kubevirt,
        release=release,
        settings=kubevirt.settings if settings is None else settings,
        version=version or kubevirt.version,
        assumption=unreleased if release is releases.UPCOMING else "",
    )
    result.check()
    return result


def version_of(manifest: Manifest) -> str:
    """The version that the operator last observed; "" if none yet."""
    status = manifest.get("status")
    return str((status.get("observedKubeVirtVersion") if isinstance(status, dict) else None) or "")


def _release(version: str) -> tuple[Release, list[str]]:
    if not version:
        return NEWEST, [f"the cluster does not report its KubeVirt release, {_assumes(NEWEST)}"]
    try:
        return releases.parse_release(version), []
    except releases.UnknownRelease:
        text, assumed = "unknown to this collection", NEWEST
        if releases.is_older(version, OLDEST.minor_version):
            text, assumed = "older than this collection supports", OLDEST
        return assumed, [f"the cluster runs KubeVirt {version}, a release {text}, {_assumes(assumed)}"]


def _assumes(release: Release) -> str:
    return f"so the task assumes {release.minor_version}"


DEPLOYMENT: Final = "commonInstancetypesDeployment"
"""The field of `spec.configuration` that decides whether virt-operator deploys the common instancetypes."""


def deploys_instancetypes(kubevirt: KubeVirt) -> bool | None:
    """Whether virt-operator deploys the common instancetypes; None if the configuration is unknown."""
    if kubevirt.assumption:
        return None
    return (kubevirt.settings.get(DEPLOYMENT) or {}).get("enabled") is not False
