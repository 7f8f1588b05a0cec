"""Hotpluggable volumes where KubeVirt plugs none because a VM has them: before 1.9, or with other feature gates."""

from __future__ import annotations

from typing import Final

from ..api import behaviour
from ..api.kinds import Kind
from ..api.manifest import Manifest, claim_of, has_condition
from ..api.tree import value_at
from ..api.write import RetrySafety, Write
from ..kubevirt import gates
from ..kubevirt.cluster import KubeVirt
from ..kubevirt.vm.device_hotplug import is_plugged
from ..kubevirt.vm.plug_admission import can_be_plugged
from ..kubevirt.vm.readiness import RUNNING, has_guest

_COMMANDS: Final = "run `virtctl addvolume` or `virtctl removevolume` before the task"
_ON_REQUEST: Final = Kind("", "subresources.kubevirt.io", "v1", "virtualmachines", True)

PlugRequests = dict[str, Manifest]
"""Volume → the options of `addvolume`, or {} for `removevolume`."""


def plug_requests(vm: Manifest, live: Manifest, kubevirt: KubeVirt) -> PlugRequests:
    """The requests by which the running guest of a VM gets and loses its hotpluggable volumes; {} if it cannot so.

    virt-controller changes the VM accordingly. It neither replaces a volume, nor plugs it into a CD-ROM drive, nor
    takes away one that a template of the VM makes; then no volume is plugged. vm: the admitted VM. live: the live VM.
    """
    if not kubevirt.has_gate(gates.PLUG_BY_REQUEST) or not _runs(live):
        return {}
    before, after = _plugged(live), _plugged(vm)
    disks_before, disks_after = _disks(live), _disks(vm)
    kept = _names(live) & _names(vm)
    # virt-api refuses a VM with a template for no volume.
    templates = {str(item["metadata"]["name"]) for item in live["spec"].get("dataVolumeTemplates") or ()}
    requests: PlugRequests = {}
    for name in _changed(before, after):
        if name in kept:
            return {}
        if name in after:
            disk = disks_after.get(name) or {}
            source = {key: value for key, value in after[name].items() if key != "name"}
            requests[name] = {"name": name, "disk": disk, "volumeSource": source}
            possible = name not in disks_before and _has_right_bus(disk, kubevirt)
        else:
            requests[name] = {}
            drive = (disks_before.get(name) or {}).get("cdrom")
            possible = name not in disks_after and drive is None and claim_of(before[name]) not in templates
        if not possible:
            return {}
    return requests


def plug_write(namespace: str, vm: str, volume: str, options: Manifest, dry_run: bool) -> Write:
    """The request for a volume, see `PlugRequests`. vm: the name of the VM."""
    subresource = "addvolume" if options else "removevolume"
    body = {**(options or {"name": volume}), **({"dryRun": ["All"]} if dry_run else {})}
    return Write("PUT", _ON_REQUEST.path(namespace, vm, subresource), body, RetrySafety.CHECK_FIRST)


def is_requested(live: Manifest, volume: str, options: Manifest) -> bool:
    """Whether a VM has got a request for a volume, or what it asks for."""
    return _pending(live, volume, options) or is_carried_out(live, volume, options)


def is_carried_out(live: Manifest, volume: str, options: Manifest) -> bool:
    """Whether virt-controller has carried out a request for a volume."""
    return (volume in _names(live)) == bool(options) and not _pending(live, volume, options)


def _pending(live: Manifest, volume: str, options: Manifest) -> bool:
    field = "addVolumeOptions" if options else "removeVolumeOptions"
    requests = (live.get("status") or {}).get("volumeRequests") or ()
    return any((request.get(field) or {}).get("name") == volume for request in requests)


def unplugged_volumes(vm: Manifest, live: Manifest | None, kubevirt: KubeVirt) -> str | None:
    """The line about hotpluggable volumes that a change gives to a VM or takes from it, and that its running guest gets
    or loses only at a restart, with the remedy; None if there are none.

    vm: the admitted VM. live: the live VM.
    """
    if kubevirt.plugs_volumes or live is None or not has_guest(live):
        return None
    before, after = _plugged(live), _plugged(vm)
    changed = _changed(before, after)
    if not changed or plug_requests(vm, live, kubevirt):
        return None
    return (
        f"spec.template.spec.volumes: {', '.join(changed)}: this KubeVirt plugs volumes into a running guest"
        f" only on request, so a restart makes the change; {_remedy(kubevirt)}"
    )


def _runs(live: Manifest) -> bool:
    """Whether the VMI has the phase Running, in which virt-api plugs volumes."""
    status = live.get("status") or {}
    # A VM is also Provisioning or Starting while it gets a new volume; a ready one runs.
    return status.get("printableStatus") in RUNNING or has_condition(live, "Ready")


def _has_right_bus(disk: Manifest, kubevirt: KubeVirt) -> bool:
    scsi = (disk.get("lun") or disk.get("disk") or {}).get("bus") == "scsi"
    return can_be_plugged(disk) and (scsi or not kubevirt.release.has(behaviour.PLUGS_ONLY_SCSI))


def _names(vm: Manifest) -> set[str]:
    return {volume["name"] for volume in vm["spec"]["template"]["spec"].get("volumes") or ()}


def _plugged(vm: Manifest) -> dict[str, Manifest]:
    volumes = vm["spec"]["template"]["spec"].get("volumes") or ()
    return {volume["name"]: volume for volume in volumes if is_plugged(volume)}


def _changed(before: dict[str, Manifest], after: dict[str, Manifest]) -> list[str]:
    """The names of plugged volumes that come, go, or get another claim."""
    claims, new_claims = ({name: claim_of(volume) for name, volume in part.items()} for part in (before, after))
    return sorted(name for name in {*before, *after} if claims.get(name) != new_claims.get(name))


def _disks(vm: Manifest) -> dict[str, Manifest]:
    disks = value_at(vm, ("spec", "template", "spec", "domain", "devices", "disks")) or ()
    return {disk["name"]: disk for disk in disks}


def _remedy(kubevirt: KubeVirt) -> str:
    by_request = kubevirt.has_gate(gates.PLUG_BY_REQUEST)
    if gates.is_known(gates.PLUG_DECLARED, kubevirt.release):
        if by_request:
            return f"replace the feature gate {gates.PLUG_BY_REQUEST} by {gates.PLUG_DECLARED}, or {_COMMANDS}"
        return f"enable the feature gate {gates.PLUG_DECLARED} in the KubeVirt object"
    return _COMMANDS if by_request else f"enable the feature gate {gates.PLUG_BY_REQUEST}"
