"""Predicts which fields of a running VMI virt-controller changes after a change of its VM, and whether it asks for a
restart.

KubeVirt compares the expanded VM with its state at the guest's start, both expanded with their own revisions. The
condition RestartRequired says that they differ in fields that cannot change in a running guest (``syncRestartRequired``
of ``virt-controller/watch/vm``). In the VMI only interfaces and the firmware UUID count.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ...api import behaviour, schema
from ...api.errors import KubeVirtError
from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, PREFERENCE
from ...api.release import NEWEST, Release
from ...api.tree import copy, remove_at, set_at, value_at
from ..cluster import Cluster, KubeVirt
from ..instancetype import applier, find
from ..instancetype.conflict import ConflictError, controller_message
from ..instancetype.find import Specs, canonical_vm
from ..instancetype.lookup import Lookup
from .device_hotplug import (
    disks_change_live,
    interfaces_need_restart,
    migration_update,
    plugged_interfaces,
    plugged_volumes,
    replacement_update,
    volumes_change_live,
)
from .hotplug import LIVE_FIELDS, LiveUpdate, memory_update, scheduling_changes, sockets_update
from .readiness import restart_required

OTHER_FIELD: Final = "a non-live-updatable field was changed in the template spec"
_VMI_SPEC: Final = "VirtualMachineInstanceSpec"


def applied_template(vm: Manifest, lookup: Lookup, release: Release = NEWEST, specs: Specs | None = None) -> Manifest:
    """The VM's canonical template with instancetype and preference applied, without defaults (``ApplyToVM``).

    specs: see `vmi.build`. Raises KubeVirtError.
    """
    vm = canonical_vm(vm, release)
    template: Manifest = vm["spec"]["template"]
    instancetype = find.given_or_effective_spec(vm, INSTANCETYPE, specs, lookup, release)
    preference = find.given_or_effective_spec(vm, PREFERENCE, specs, lookup, release)
    try:
        applier.apply_in_place(template["metadata"], template["spec"], instancetype, preference, release)
    except ConflictError as error:
        raise KubeVirtError(controller_message(error.conflicts, "VM")) from error
    return template


def differs_until_restart(
    vm: Manifest, at_start: Manifest, desired: Manifest, running: Manifest, kubevirt: KubeVirt
) -> bool:
    """Whether a VM differs from its guest's start in fields that need a restart.

    at_start, desired: the applied VMI specs at the start and now, canonical. running: the VMI's spec, canonical.
    """
    at_start = copy(at_start)
    if kubevirt.live_updates or not kubevirt.release.has(behaviour.STAGES_VOLUMES):
        _ignore_volumes(vm, at_start, desired)
    if kubevirt.live_updates:
        _ignore_live_fields(at_start, desired)
    if not interfaces_need_restart(desired, running, kubevirt):
        _ignore(at_start, desired, "networks")
        _ignore(at_start["domain"]["devices"], desired["domain"]["devices"], "interfaces")
    _ignore_firmware_uuid(at_start, desired, running)
    return not schema.equal(_VMI_SPEC, at_start, desired)


def _ignore(at_start: Manifest, desired: Manifest, field: str) -> None:
    """Removes a field from the comparison."""
    at_start.pop(field, None)
    if field in desired:
        at_start[field] = copy(desired[field])


def _ignore_live_fields(at_start: Manifest, desired: Manifest) -> None:
    """Removes the fields that can change in a running guest."""
    if at_start["domain"].get("cpu") is not None and desired["domain"].get("cpu") is not None:
        _ignore(at_start["domain"]["cpu"], desired["domain"]["cpu"], "sockets")
    guest = (desired["domain"].get("memory") or {}).get("guest")
    if guest is not None:
        at_start["domain"].setdefault("memory", {})["guest"] = guest
    for field in LIVE_FIELDS:
        _ignore(at_start, desired, field)


def _ignore_volumes(vm: Manifest, at_start: Manifest, desired: Manifest) -> None:
    """Removes volumes and disks, if all their changes can be hotplugged or are migrations."""
    volumes, disks = volumes_change_live(vm, at_start, desired), disks_change_live(at_start, desired)
    if volumes:
        _ignore(at_start, desired, "volumes")
    if disks:
        _ignore(at_start["domain"]["devices"], desired["domain"]["devices"], "disks")


def _ignore_firmware_uuid(at_start: Manifest, desired: Manifest, running: Manifest) -> None:
    """Ignores the UUID that virt-controller gave the VM after its start: the guest has the same."""
    firmware, guest_firmware = desired["domain"].get("firmware"), running["domain"].get("firmware")
    if firmware is not None and guest_firmware is not None and guest_firmware.get("uuid") == firmware.get("uuid"):
        _ignore(at_start["domain"].setdefault("firmware", {}), firmware, "uuid")


def remaining_condition(vm: Manifest, release: Release) -> Manifest | None:
    """The VM's condition RestartRequired if it remains whatever changes, until the guest starts again; else None."""
    return restart_required(vm) if release.has(behaviour.KEEPS_RESTART_CONDITION) else None


class ReconciledVMI(NamedTuple):
    """A VMI after virt-controller has taken up the changes of its VM.

    spec: the canonical spec of the VMI. update: the actions of virt-controller that lead there.
    """

    spec: Manifest
    update: LiveUpdate = LiveUpdate()


def reconcile(
    at_start: Manifest,
    now: Manifest,
    vmi: Manifest,
    cluster: Cluster,
    specs_at_start: Specs | None = None,
    specs_now: Specs | None = None,
) -> ReconciledVMI:
    """Reconciles a VMI with its VM, which has changed since the guest's start (``sync`` of ``watch/vm``).

    at_start, now: the VM at its guest's start, and now. vmi: its VMI. specs_at_start, specs_now: see `vmi.build`.
    """
    kubevirt = cluster.kubevirt
    running = schema.canonical(_VMI_SPEC, vmi["spec"])
    try:
        started: Manifest = applied_template(at_start, cluster.objects, cluster.release, specs_at_start)["spec"]
        desired: Manifest = applied_template(now, cluster.objects, cluster.release, specs_now)["spec"]
    except KubeVirtError:
        return ReconciledVMI(running)
    vmi = {**vmi, "spec": running}
    spec, changes = _with_devices(_canonical(now), vmi, kubevirt)
    if differs_until_restart(now, started, desired, running, kubevirt):
        return ReconciledVMI(spec, LiveUpdate(changes, OTHER_FIELD))
    # virt-controller compares again when it has plugged in the devices as the VM lists them, without the preference.
    restart = OTHER_FIELD if changes and differs_until_restart(now, started, desired, spec, kubevirt) else None
    if not kubevirt.live_updates:
        return ReconciledVMI(spec, LiveUpdate(changes, restart))
    updates = [sockets_update(desired, vmi), memory_update(desired, vmi), migration_update(now, vmi)]
    if kubevirt.release.has(behaviour.REPLACES_VOLUMES):
        # virt-controller looks at the volumes after it has carried out requests to plug some.
        after_requests = {**vmi, "spec": spec} if kubevirt.requests_plugs else vmi
        updates.append(replacement_update(_canonical(now), after_requests))
    condition = remaining_condition(now, kubevirt.release)
    if condition is not None:
        # Updates of scheduling fields are held up as well, but do not matter to a running guest.
        held_up = any(update.changes or update.restart_required for update in updates)
        return ReconciledVMI(
            spec, LiveUpdate(changes, (condition.get("message") or OTHER_FIELD) if held_up else restart)
        )
    taken = scheduling_changes(desired, running)
    for update in updates:
        taken += update.changes
        restart = restart or update.restart_required
    for field in taken:
        path = field.split(".")
        value = value_at(desired, path)
        if value is None:
            remove_at(spec, path)
        else:
            set_at(spec, path, value)
    # KubeVirt takes the sockets first, and nothing else if it cannot plug them yet.
    return ReconciledVMI(spec, LiveUpdate((*changes, *taken), restart, updates[0].without_condition))


def _canonical(vm: Manifest) -> Manifest:
    spec = schema.canonical(_VMI_SPEC, vm["spec"]["template"]["spec"])
    return {"spec": {**vm["spec"], "template": {"spec": spec}}}


def _with_devices(vm: Manifest, vmi: Manifest, kubevirt: KubeVirt) -> tuple[Manifest, tuple[str, ...]]:
    """The VMI's spec once KubeVirt has plugged devices in and out, and the fields that change by it. KubeVirt does so
    whether or not the rest needs a restart.
    """
    running, changes = vmi["spec"], []
    spec = plugged_interfaces(vm["spec"]["template"]["spec"], vmi, kubevirt)
    if spec.get("networks") != running.get("networks"):
        changes.append("networks")
    if spec["domain"]["devices"].get("interfaces") != running["domain"]["devices"].get("interfaces"):
        changes.append("domain.devices.interfaces")
    if kubevirt.plugs_volumes:
        volumes, disks = _settled_volumes(vm, vmi)
        if not schema.equal("[]Volume", running.get("volumes") or [], volumes):
            changes.append("volumes")
            spec["volumes"] = copy(volumes)
        if not schema.equal("[]Disk", running["domain"]["devices"].get("disks") or [], disks):
            changes.append("domain.devices.disks")
            spec["domain"]["devices"]["disks"] = copy(disks)
    return spec, tuple(changes)


def _settled_volumes(vm: Manifest, vmi: Manifest) -> tuple[list[Manifest], list[Manifest]]:
    """The volumes and disks once replaced volumes have also left the VMI's status."""
    volumes, disks = plugged_volumes(vm, vmi)
    names = {volume["name"] for volume in volumes}
    spec = {**vmi["spec"], "volumes": volumes}
    spec["domain"] = {**spec["domain"], "devices": {**spec["domain"]["devices"], "disks": disks}}
    status = vmi.get("status") or {}
    attached = [entry for entry in status.get("volumeStatus") or [] if entry["name"] in names]
    return plugged_volumes(vm, {**vmi, "spec": spec, "status": {**status, "volumeStatus": attached}})
