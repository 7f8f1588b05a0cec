"""Volumes, disks, interfaces and networks of a running guest: which changes it can take, and what it gets
(``pkg/storage/hotplug``, ``watch/volume-migration``, ``pkg/network/vmliveupdate``, ``pkg/network/controllers``).
"""

from __future__ import annotations

import re
from typing import Final

from ...api import behaviour, schema
from ...api.manifest import Manifest, claim_of
from ...api.tree import copy
from ..cluster import KubeVirt
from . import plug_admission
from .hotplug import LiveUpdate

_MIGRATION: Final = "Migration"
_REPLACED: Final = "the volumes replacement is effective only after restart"
_INVALID: Final = "invalid volumes to update with migration:"
_NOT_MIGRATABLE: Final = "cannot migrate the volumes as the VMI isn't migratable: {message}"
_NOT_INCLUDED: Final = "cannot migrate the VM. The volume {name} is RWO and not included in the migration volumes"
_SHARED: Final = frozenset({"ReadOnlyMany", "ReadWriteMany"})
# The volume with the state of TPM and EFI.
_BACKEND_STORAGE: Final = "persistent-state-for"


def volumes_change_live(vm: Manifest, at_start: Manifest, desired: Manifest) -> bool:
    """Whether all changed volumes can be hotplugged, or are replaced by migration (``validLiveUpdateVolumes``).

    at_start, desired: VMI specs.
    """
    remaining = _by_name(_volumes(at_start))
    for volume in _volumes(desired):
        before = remaining.pop(volume["name"], None)
        if _is_hotpluggable(volume):
            continue
        persistent = volume.get("persistentVolumeClaim") is not None or volume.get("dataVolume") is not None
        if before is None or not (schema.equal("Volume", before, volume) or (persistent and migrates(vm))):
            return False
    return all(_is_hotpluggable(volume) for volume in remaining.values())


def disks_change_live(at_start: Manifest, desired: Manifest) -> bool:
    """Whether all changed disks belong to volumes that can be hotplugged (``validLiveUpdateDisks``)."""
    volumes_at_start, volumes = _by_name(_volumes(at_start)), _by_name(_volumes(desired))
    remaining = _by_name(_disks(at_start))
    for disk in _disks(desired):
        name = disk["name"]
        before = remaining.pop(name, None)
        if name in volumes and _is_hotpluggable(volumes[name]):
            continue
        if before is None or not schema.equal("Disk", before, disk):
            return False
    return not any(
        disk.get("cdrom") is not None or (name in volumes_at_start and not _is_hotpluggable(volumes_at_start[name]))
        for name, disk in remaining.items()
    )


def plugged_volumes(vm: Manifest, vmi: Manifest) -> tuple[list[Manifest], list[Manifest]]:
    """The volumes and disks of a running VMI after KubeVirt has hotplugged its VM's changes (``patchHotplugVolumes``).

    vm, vmi: with canonical specs of the VMI. A replaced volume comes once the old one has left the VMI's status.
    If virt-api rejects one of the volumes, the guest's volumes and disks do not change.
    """
    status = vmi.get("status") or {}
    now, running = vm["spec"]["template"]["spec"], vmi["spec"]
    if status.get("phase") != "Running" or migrates(vm):
        return _volumes(running), _disks(running)
    desired, disks = _by_name(_volumes(now)), _by_name(_disks(now))
    volumes = [volume for volume in _volumes(running) if _stays(volume, desired.get(volume["name"]))]
    taken = {*_by_name(_volumes(running)), *(entry["name"] for entry in status.get("volumeStatus") or [])}
    volumes += [volume for name, volume in desired.items() if is_plugged(volume) and name not in taken]
    names = _by_name(volumes)
    plugged_disks = [
        disk
        for disk in _disks(running)
        if disk["name"] in names or _stays_without_volume(disk, disks.get(disk["name"]), disk["name"] in desired)
    ]
    present = _by_name(_disks(running))
    plugged_disks += [disk for name, disk in disks.items() if name not in present and is_plugged(names.get(name) or {})]
    if plug_admission.accepts(running, volumes, plugged_disks):
        return volumes, plugged_disks
    return _volumes(running), _disks(running)


def _stays(volume: Manifest, desired: Manifest | None) -> bool:
    if not is_plugged(volume):
        return True
    return desired is not None and (not is_plugged(desired) or schema.equal("Volume", volume, desired))


def _stays_without_volume(disk: Manifest, desired: Manifest | None, replaced: bool) -> bool:
    """Whether a running VMI keeps a disk whose volume goes. If the volume is replaced, only a CD-ROM drive stays.

    desired: the VM's disk, None if it has none.
    """
    if desired is None:
        return False
    return not replaced or (disk.get("cdrom") is not None and desired.get("cdrom") is not None)


def replacement_update(vm: Manifest, vmi: Manifest) -> LiveUpdate:
    """The update for other volumes of a running VMI in releases that plug none because the VM has them
    (``handleVolumeUpdateRequest``).

    vm, vmi: with canonical specs of the VMI. KubeVirt waits while a hotpluggable volume is being unplugged.
    """
    running, desired = _by_name(_volumes(vmi["spec"])), _by_name(_volumes(vm["spec"]["template"]["spec"]))
    if migrates(vm) or any(name not in desired and is_plugged(volume) for name, volume in running.items()):
        return LiveUpdate()
    for name, volume in running.items():
        if volume.get("containerDisk") is not None and desired.get(name, {}).get("containerDisk") is not None:
            # The VMI's own default.
            disk = {**desired[name]["containerDisk"], "imagePullPolicy": volume["containerDisk"].get("imagePullPolicy")}
            desired[name] = {**desired[name], "containerDisk": disk}
    same = schema.equal("[]Volume", list(running.values()), list(desired.values()))
    return LiveUpdate() if same else LiveUpdate(restart_required=_REPLACED)


def migration_update(vm: Manifest, vmi: Manifest) -> LiveUpdate:
    """The update that migrates a running VMI to other volumes (``handleVolumeUpdateRequest``).

    KubeVirt waits until the new volumes exist. Not considered: DataVolumes of a storage class without populators.
    """
    running = vmi["spec"]
    desired = _by_name(_volumes(vm["spec"]["template"]["spec"]))
    moved = [
        name
        for name, volume in _by_name(_volumes(running)).items()
        if claim_of(volume) and claim_of(desired.get(name) or {}) not in ("", claim_of(volume))
    ]
    if not migrates(vm) or not moved:
        return LiveUpdate()
    reason = _unmovable(moved, running) or _unmovable_guest(moved, vmi.get("status") or {})
    if reason:
        return LiveUpdate(restart_required=reason)
    return LiveUpdate(("volumes",))


def _unmovable(moved: list[str], running: Manifest) -> str:
    filesystems = _by_name(running["domain"]["devices"].get("filesystems") or [])
    disks = _by_name(_disks(running))
    unsupported: dict[str, list[str]] = {"filesystems": [], "shareable": [], "luns": []}
    for name in moved:
        disk = disks.get(name) or {}
        if name in filesystems:
            unsupported["filesystems"].append(name)
        elif disk.get("shareable"):
            unsupported["shareable"].append(name)
        elif disk.get("lun") is not None:
            unsupported["luns"].append(name)
    reasons = "".join(f" {kind}: [{' '.join(names)}]" for kind, names in unsupported.items() if names)
    return f"{_INVALID}{reasons}" if reasons else ""


def _unmovable_guest(moved: list[str], status: Manifest) -> str:
    for condition in status.get("conditions") or []:
        if condition["type"] == "StorageLiveMigratable" and condition["status"] == "False":
            return _NOT_MIGRATABLE.format(message=condition.get("message", ""))
    for entry in status.get("volumeStatus") or []:
        claim, name = entry.get("persistentVolumeClaimInfo"), entry["name"]
        if claim is None or name.startswith(_BACKEND_STORAGE) or _SHARED.intersection(claim.get("accessModes") or ()):
            continue
        if name not in moved:
            return _NOT_INCLUDED.format(name=name)
    return ""


def migrates(vm: Manifest) -> bool:
    """Whether a VM's guest is to be migrated to its changed volumes."""
    return bool(vm["spec"].get("updateVolumesStrategy") == _MIGRATION)


def _is_hotpluggable(volume: Manifest) -> bool:
    return any(isinstance(source, dict) and source.get("hotpluggable") for source in volume.values())


def is_plugged(volume: Manifest) -> bool:
    """Whether KubeVirt plugs a volume because the VM has it. A memory dump is plugged on request."""
    return _is_hotpluggable(volume) and volume.get("memoryDump") is None


def _volumes(spec: Manifest) -> list[Manifest]:
    volumes: list[Manifest] = spec.get("volumes") or []
    return volumes


def _disks(spec: Manifest) -> list[Manifest]:
    disks: list[Manifest] = spec["domain"]["devices"].get("disks") or []
    return disks


def _by_name(entries: list[Manifest]) -> dict[str, Manifest]:
    return {entry["name"]: entry for entry in entries}


_ORDINAL_NAME: Final = r"net\d+"


def interfaces_need_restart(desired: Manifest, running: Manifest, kubevirt: KubeVirt) -> bool:
    """Whether interfaces or networks of the guest were removed or changed; new ones and states do not count
    (``IsRestartRequired``).

    desired, running: VMI specs.
    """
    if (
        kubevirt.release.has(behaviour.RESTARTS_FOR_POD_NETWORK)
        and _has_pod_network(desired)
        and not _has_pod_network(running)
    ):
        return True

    def interfaces(spec: Manifest) -> dict[str, Manifest]:
        return {entry["name"]: {key: entry[key] for key in entry if key != "state"} for entry in _interfaces(spec)}

    def networks(spec: Manifest) -> dict[str, Manifest]:
        result = {entry["name"]: copy(entry) for entry in spec.get("networks") or []}
        for entry in result.values():
            if entry.get("multus") is not None and kubevirt.changes_networks:
                entry["multus"]["networkName"] = ""
        return result

    return any(
        named(desired).get(name) != entry for named in (interfaces, networks) for name, entry in named(running).items()
    )


def plugged_interfaces(desired: Manifest, vmi: Manifest, kubevirt: KubeVirt) -> Manifest:
    """The spec of a VMI with the VM's interfaces, states and networks, as far as a running guest can have them.

    desired: the VM's VMI spec. vmi: has at least `spec`; its status names the pod's interfaces.
    """
    result: Manifest = copy(vmi["spec"])
    devices = result["domain"].setdefault("devices", {})
    present = {entry["name"]: entry for entry in devices.get("interfaces") or []}
    networks = {entry["name"]: entry for entry in desired.get("networks") or []}
    fixed = _has_ordinal_names(vmi)
    for interface in _interfaces(desired):
        current, state = present.get(interface["name"]), interface.get("state")
        pluggable = interface.get("bridge") is not None or interface.get("sriov") is not None
        if current is None and state != "absent" and pluggable and interface["name"] in networks:
            devices["interfaces"] = [*(devices.get("interfaces") or []), interface]
            result["networks"] = [*(result.get("networks") or []), networks[interface["name"]]]
        elif current is not None and state != current.get("state") and not (fixed and state == "absent"):
            current.pop("state", None)
            current.update({} if state is None else {"state": state})
    for network in result.get("networks") or []:
        declared = networks.get(network["name"]) or {}
        if kubevirt.changes_networks and "multus" in declared and "multus" in network:
            network["multus"]["networkName"] = declared["multus"]["networkName"]
    return result


def _has_ordinal_names(vmi: Manifest) -> bool:
    """Whether the pod numbers its interfaces, so that none can be unplugged. KubeVirt assumes it of a pod that reports
    none.
    """
    networks = [entry for entry in vmi["spec"].get("networks") or [] if entry.get("multus") is not None]
    secondary = [entry["name"] for entry in networks if not entry["multus"].get("default")]
    reported = (vmi.get("status") or {}).get("interfaces") or []
    names = {entry.get("name"): entry.get("podInterfaceName") for entry in reported}
    name = next((names[entry] for entry in secondary if names.get(entry)), None)
    return bool(secondary) if name is None else re.fullmatch(_ORDINAL_NAME, name) is not None


def _has_pod_network(spec: Manifest) -> bool:
    return any(entry.get("pod") is not None for entry in spec.get("networks") or [])


def _interfaces(spec: Manifest) -> list[Manifest]:
    interfaces: list[Manifest] = spec["domain"].get("devices", {}).get("interfaces") or []
    return interfaces
