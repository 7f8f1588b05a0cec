"""A cluster's KubeVirt, its configuration and its objects, on which all judgements of VMs depend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ...api import errors, quantity
from ...api import release as releases
from ...api.manifest import Manifest
from ...api.release import NEWEST, Release
from ..find.lookup import Lookup

DEFAULT_ARCHITECTURE: Final = "amd64"
_MACHINE_TYPES: Final = {"amd64": "q35", "arm64": "virt", "s390x": "s390-ccw-virtio"}
CPU_REQUEST: Final = "100m"
_NETWORK_INTERFACES: Final = ("bridge", "masquerade", "slirp")


class Configuration(NamedTuple):
    """The relevant parts of a cluster's KubeVirt configuration, with KubeVirt's own defaults.

    architecture: of VMs without one. machine_type: of all VMs, or "".
    machine_types: architecture → machine type. cpu_request: a quantity.
    network_interface: bridge, masquerade or slirp. bridge_permitted: on the pod network.
    memory_overcommit: the guests' memory in percent of their pods' requests.
    """

    architecture: str = DEFAULT_ARCHITECTURE
    machine_type: str = ""
    machine_types: Mapping[str, str] = _MACHINE_TYPES
    cpu_request: str = CPU_REQUEST
    network_interface: str = "bridge"
    bridge_permitted: bool = True
    eviction_strategy: str = "None"
    memory_overcommit: int = 100


def configuration(spec: dict[str, Any] | None = None, architecture: str = DEFAULT_ARCHITECTURE) -> Configuration:
    """Reads `spec.configuration` of a KubeVirt object and its `status.defaultArchitecture`.

    Like KubeVirt, ignores a whole configuration with an invalid value.
    """
    spec = spec or {}
    if not is_valid(spec):
        return Configuration()
    network = spec.get("network") or {}
    machine_types = dict(_MACHINE_TYPES)
    for name, entry in (spec.get("architectureConfiguration") or {}).items():
        # That of s390x is new in 1.7; the CRD of older releases drops it.
        if name in _MACHINE_TYPES and (entry or {}).get("machineType"):
            machine_types[name] = entry["machineType"]
    permitted = network.get("permitBridgeInterfaceOnPodNetwork")
    return Configuration(
        architecture=architecture,
        machine_type=spec.get("machineType") or "",
        machine_types=machine_types,
        cpu_request=quantity.canonical(str(spec.get("cpuRequest") or CPU_REQUEST)),
        network_interface=network.get("defaultNetworkInterface") or "bridge",
        bridge_permitted=permitted is None or bool(permitted),
        eviction_strategy=spec.get("evictionStrategy") or "None",
        memory_overcommit=(spec.get("developerConfiguration") or {}).get("memoryOvercommit") or 100,
    )


def is_valid(spec: dict[str, Any]) -> bool:
    """Whether KubeVirt accepts a configuration (`spec.configuration`); otherwise it uses its defaults."""
    developer = spec.get("developerConfiguration") or {}
    try:
        quantity.parse(str(spec.get("cpuRequest") or CPU_REQUEST))
    except errors.QuantityError:
        return False
    return (
        (spec.get("imagePullPolicy") or "Always") in ("Always", "Never", "IfNotPresent")
        and ((spec.get("network") or {}).get("defaultNetworkInterface") or "bridge") in _NETWORK_INTERFACES
        and (developer.get("memoryOvercommit") or 100) > 0
        and (developer.get("cpuAllocationRatio") or 10) > 0
        and 0 <= (developer.get("pvcTolerateLessSpaceUpToPercent") or 0) <= 100
    )


_NOTHING: Final[Mapping[str, Any]] = {}

_CONTROLLER: Final = "system:serviceaccount:{}:kubevirt-controller"

_LIVE_UPDATE: Final = "LiveUpdate"
_STAGE: Final = "Stage"

_PLUG_DECLARED: Final = "DeclarativeHotplugVolumes"
_PLUG_BY_REQUEST: Final = "HotplugVolumes"


class KubeVirt(NamedTuple):
    """The KubeVirt of a cluster.

    release: its behaviour. configuration: the source of VM defaults. live_updates: changes of a VM reach its running
    guest; otherwise they wait for a restart, except for interfaces and volumes. plugs_volumes: a running guest gets the
    hotpluggable volumes of its VM. changes_networks: an interface of a running guest gets another Multus network.
    closed_gates: required feature gates of the release that are not open.
    version: as the cluster reports it, such as ``v1.6.2``, also of a custom build; "" if unknown.
    settings: `spec.configuration` of its object. annotations: of the object.
    controller: the user name of virt-controller.
    assumption: what is assumed because it could not be read, and why, on one line; "" if nothing.
    """

    release: Release
    configuration: Configuration = Configuration()
    live_updates: bool = True
    plugs_volumes: bool = True
    changes_networks: bool = True
    closed_gates: frozenset[str] = frozenset()
    version: str = ""
    settings: Mapping[str, Any] = _NOTHING
    annotations: Mapping[str, str] = _NOTHING
    controller: str = _CONTROLLER.format("kubevirt")
    assumption: str = ""


class Cluster(NamedTuple):
    """A cluster with KubeVirt.

    objects: looks up instancetypes, preferences, revisions and volumes. kubevirt: its KubeVirt.
    """

    objects: Lookup
    kubevirt: KubeVirt

    @property
    def configuration(self) -> Configuration:
        return self.kubevirt.configuration

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
            return _read(manifest, release)._replace(version=version, assumption="; ".join(assumptions))
        except (AttributeError, TypeError, ValueError) as error:
            problem = f"the object is malformed ({' '.join(str(error).split())})"
    assumptions.append(
        f"cannot read the configuration of the cluster's KubeVirt, so the task assumes the defaults: {problem}"
    )
    return _read({}, release)._replace(version=version, assumption="; ".join(assumptions))


def at_release(kubevirt: KubeVirt, version: str, settings: Mapping[str, Any] | None = None) -> KubeVirt:
    """The same KubeVirt at another release. settings: the new `spec.configuration`, None to keep the current one.

    Raises UnknownRelease, also for an older one, and ValueError for a malformed configuration.
    """
    manifest = {
        "metadata": {"annotations": dict(kubevirt.annotations)},
        "spec": {"configuration": dict(kubevirt.settings if settings is None else settings)},
        "status": {"defaultArchitecture": kubevirt.configuration.architecture},
    }
    release = releases.parse_known_release(version) if version else kubevirt.release
    if releases.is_older(version, kubevirt.version):
        raise releases.UnknownRelease(
            f"{version} is older than {kubevirt.version}, which the cluster runs, and KubeVirt has no downgrade;"
            " write a later release"
        )
    try:
        result = _read(manifest, release)
    except (AttributeError, TypeError) as error:
        raise ValueError(f"malformed ({' '.join(str(error).split())})") from None
    return result._replace(version=version or kubevirt.version, controller=kubevirt.controller)


def version_of(manifest: Manifest) -> str:
    """The version that the operator last observed; "" if none yet."""
    status = manifest.get("status")
    return str((status.get("observedKubeVirtVersion") if isinstance(status, dict) else None) or "")


def _release(version: str) -> tuple[Release, list[str]]:
    newest = ".".join(map(str, NEWEST.version[:2]))
    if not version:
        return NEWEST, [f"the cluster does not report its KubeVirt release, so the task assumes {newest}"]
    try:
        return releases.parse_release(version), []
    except releases.UnknownRelease:
        return NEWEST, [
            f"the cluster runs KubeVirt {version}, a release unknown to this collection, so the task assumes {newest}"
        ]


def _read(manifest: Manifest, release: Release) -> KubeVirt:
    spec: Manifest = (manifest.get("spec") or {}).get("configuration") or {}
    status: Manifest = manifest.get("status") or {}
    metadata: Manifest = manifest.get("metadata") or {}
    developer: Manifest = spec.get("developerConfiguration") or {}
    return KubeVirt(
        release,
        configuration(spec, status.get("defaultArchitecture") or DEFAULT_ARCHITECTURE),
        updates_live(spec, release),
        plugs_volumes(spec, release),
        changes_networks(spec, release),
        release.gates.difference(developer.get("featureGates") or ()),
        settings=spec,
        annotations=metadata.get("annotations") or {},
        controller=_CONTROLLER.format(metadata.get("namespace") or "kubevirt"),
    )


def updates_live(settings: Manifest, release: Release) -> bool:
    """Whether changes reach running guests. settings: `spec.configuration` of the KubeVirt object."""
    gates = (settings.get("developerConfiguration") or {}).get("featureGates") or ()
    if release.live_update_gate and release.live_update_gate not in gates:
        return False
    default = _LIVE_UPDATE if release.updates_live_by_default else _STAGE
    return (settings.get("vmRolloutStrategy") or default) == _LIVE_UPDATE


def plugs_volumes(settings: Manifest, release: Release) -> bool:
    """Whether hotpluggable volumes of a VM are plugged into its guest. The gate of the older way, by request, prevails.

    settings: `spec.configuration` of the KubeVirt object.
    """
    developer = settings.get("developerConfiguration") or {}
    gates = developer.get("featureGates") or ()
    if _PLUG_BY_REQUEST in gates:
        return False
    disabled = developer.get("disabledFeatureGates") or ()
    return _PLUG_DECLARED in gates or (release.plugs_volumes and _PLUG_DECLARED not in disabled)


def changes_networks(settings: Manifest, release: Release) -> bool:
    """Whether an interface of a running guest gets another Multus network.

    settings: `spec.configuration` of the KubeVirt object.
    """
    gates = (settings.get("developerConfiguration") or {}).get("featureGates") or ()
    return release.changes_networks and (not release.network_gate or release.network_gate in gates)


DEPLOYMENT: Final = "commonInstancetypesDeployment"
"""The field of `spec.configuration` that decides whether virt-operator deploys the common instancetypes."""
DEPLOYMENT_SINCE: Final = "1.4"
"""The first release with the field. From 1.1 on a feature gate decided."""
_DEPLOYMENT_GATE: Final = "CommonInstancetypesDeploymentGate"


def deploys_instancetypes(kubevirt: KubeVirt) -> bool | None:
    """Whether virt-operator deploys the common instancetypes; None if the configuration is unknown."""
    if kubevirt.assumption:
        return None
    if not kubevirt.release.has(DEPLOYMENT_SINCE):
        return _DEPLOYMENT_GATE in ((kubevirt.settings.get("developerConfiguration") or {}).get("featureGates") or ())
    return (kubevirt.settings.get(DEPLOYMENT) or {}).get("enabled") is not False
