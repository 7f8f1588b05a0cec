"""The effect of a VM's change on its running guest: changes of the VMI, and why it needs a restart.

KubeVirt compares the expanded VM with its state at the guest's start, both expanded with their own revisions. The
condition RestartRequired says that they differ in fields that cannot change in a running guest (``syncRestartRequired``
of ``virt-controller/watch/vm``). Of the guest itself only interfaces and firmware UUID count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ...api import release_schema, schema
from ...api.errors import FieldError, Panic
from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, PREFERENCE
from ...api.release import NEWEST, Release
from ...api.tree import copy
from ..apply import applier, conflict
from ..find import find
from ..find.lookup import Lookup, Problem
from .cluster import Cluster, KubeVirt
from .device_hotplug import (
    disks_change_live,
    interfaces_need_restart,
    migrated,
    plugged_interfaces,
    plugged_volumes,
    replaced,
    volumes_change_live,
)
from .hotplug import LIVE_FIELDS, Update, limits, memory, scheduling, set_maximums, sockets
from .readiness import restart_required

NOTHING: Final = "nothing"
LIVE: Final = "live_update"
RESTART: Final = "restart"
# A referenced object is unreadable, or KubeVirt could not expand the VM.
UNKNOWN: Final = "unknown"


class Impact(NamedTuple):
    """The impact of a change on the guest.

    needs: NOTHING (also for a VM without a running guest, which gets the change at its next start), LIVE, RESTART or
    UNKNOWN. reason: why a restart is needed, in KubeVirt's words if it asks for one.
    without_condition: KubeVirt does not ask for a restart, although the guest gets the change only by one.
    guest_before, guest_after: the figures of the guest as it runs (or would start), before and after the change.
    changes: the changed fields of the VMI's spec, [{field, before, after}], without secrets, including earlier changes
    that wait for a restart.
    guest_current: the guest has everything that the VM declares, although KubeVirt asks for a restart.
    """

    needs: str
    reason: str | None = None
    guest_before: Manifest | None = None
    guest_after: Manifest | None = None
    changes: tuple[Manifest, ...] = ()
    guest_current: bool = False
    without_condition: bool = False


OTHER_FIELD: Final = "a non-live-updatable field was changed in the template spec"
_VMI_SPEC: Final = "VirtualMachineInstanceSpec"


def applied(vm: Manifest, lookup: Lookup, release: Release = NEWEST) -> Manifest | Problem:
    """The VM's canonical template with instancetype and preference applied, without defaults (``ApplyToVM``)."""
    try:
        vm = release_schema.canonical("VirtualMachine", vm, release)
    except FieldError as error:
        return Problem(str(error))
    template: Manifest = vm["spec"]["template"]
    instancetype = find.spec(vm, INSTANCETYPE, lookup, release)
    preference = find.spec(vm, PREFERENCE, lookup, release)
    problem = instancetype.error or preference.error
    if problem is not None:
        return problem
    try:
        conflicts = applier.apply_in_place(
            template["metadata"], template["spec"], instancetype.spec, preference.spec, release
        )
    except Panic as panic:
        return Problem(str(panic))
    if conflicts:
        return Problem(conflict.controller_message(conflicts, "VM"))
    return template


def differs(vm: Manifest, at_start: Manifest, desired: Manifest, running: Manifest, kubevirt: KubeVirt) -> bool:
    """Whether a VM differs from its guest's start in fields that need a restart.

    at_start, desired: the applied VMI specs at the start and now, canonical. running: the VMI's spec, canonical.
    """
    at_start = copy(at_start)
    if kubevirt.live_updates or not kubevirt.release.stages_volumes:
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
    uuid = (desired["domain"].get("firmware") or {}).get("uuid")
    if desired["domain"].get("firmware") is None or running["domain"].get("firmware") is None:
        return
    if running["domain"]["firmware"].get("uuid") == uuid:
        _ignore(at_start["domain"].setdefault("firmware", {}), desired["domain"]["firmware"], "uuid")


_ENDED: Final = frozenset({"Succeeded", "Failed"})


def takes_changes(instance: Manifest) -> bool:
    """Whether changes of a VM reach its VMI, or ask for its restart: from its creation until it ends."""
    ended = (instance.get("status") or {}).get("phase") in _ENDED
    return not ended and not instance["metadata"].get("deletionTimestamp")


def remaining_condition(vm: Manifest, release: Release) -> Manifest | None:
    """The VM's condition RestartRequired if it remains whatever changes, until the guest starts again; else None."""
    return restart_required(vm) if release.keeps_restart_condition else None


def compare(at_start: Manifest, now: Manifest, instance: Manifest, cluster: Cluster) -> Update:
    """The effect of a VM's changes since its guest's start.

    at_start, now: the VM at its guest's start, and now. instance: its VMI.
    """
    kubevirt = cluster.kubevirt
    applied_at_start, template = (applied(vm, cluster.objects, cluster.release) for vm in (at_start, now))
    if isinstance(applied_at_start, Problem) or isinstance(template, Problem):
        return Update()
    desired: Manifest = template["spec"]
    instance = {**instance, "spec": schema.canonical(_VMI_SPEC, instance["spec"])}
    running = instance["spec"]
    changes = tuple(_hotplugged_changes(now, instance, kubevirt))
    if differs(now, applied_at_start["spec"], desired, running, kubevirt):
        return Update(changes, OTHER_FIELD)
    if not kubevirt.live_updates:
        return Update(changes)
    updates = [sockets(desired, instance), memory(desired, instance), migrated(now, instance)]
    if kubevirt.release.replaces_volumes:
        updates.append(replaced(_canonical(now), instance))
    condition = remaining_condition(now, kubevirt.release)
    if condition is not None:
        # What only the scheduler needs is held up as well, but does not matter to a running guest.
        held_up = any(update.changes or update.restart_required for update in updates)
        return Update(changes, (condition.get("message") or OTHER_FIELD) if held_up else None)
    changes += scheduling(desired, running)
    restart = None
    for update in updates:
        changes += update.changes
        restart = restart or update.restart_required
    # KubeVirt takes the sockets first, and nothing else if it cannot plug them yet.
    return Update(changes, restart, updates[0].without_condition)


def _canonical(vm: Manifest) -> Manifest:
    spec = schema.canonical(_VMI_SPEC, vm["spec"]["template"]["spec"])
    return {"spec": {**vm["spec"], "template": {"spec": spec}}}


def _hotplugged_changes(vm: Manifest, instance: Manifest, kubevirt: KubeVirt) -> Iterator[str]:
    """The fields that change by what is plugged in and out, whether or not the rest needs a restart."""
    vm, running = _canonical(vm), instance["spec"]
    connected = plugged_interfaces(vm["spec"]["template"]["spec"], instance, kubevirt)
    if connected.get("networks") != running.get("networks"):
        yield "networks"
    interfaces = connected["domain"]["devices"].get("interfaces")
    if interfaces != running["domain"]["devices"].get("interfaces"):
        yield "domain.devices.interfaces"
    if kubevirt.plugs_volumes:
        volumes, disks = plugged_volumes(vm, instance)
        if not schema.equal("[]Volume", running.get("volumes") or [], volumes):
            yield "volumes"
        if not schema.equal("[]Disk", running["domain"]["devices"].get("disks") or [], disks):
            yield "domain.devices.disks"


def changes_live(vm: Manifest, before: Manifest, after: Manifest, kubevirt: KubeVirt) -> bool:
    """Whether a running guest can probably take the change without a restart, judged by the VM alone, on a cluster that
    changes running guests.

    before, after: applied VMI specs. The state at the guest's start is unknown here, so only virt-controller's decision
    is certain.
    """
    if differs(vm, before, after, before, kubevirt):
        return False
    running = copy(before)
    for part in ("cpu", "memory"):
        running["domain"].setdefault(part, {})
    set_maximums(running, limits(kubevirt.configuration))
    status = {"conditions": (vm.get("status") or {}).get("conditions") or []}
    guest = {"guestCurrent": running["domain"]["memory"].get("guest")}
    instance = {"spec": running, "status": {**status, "memory": guest}}
    return not any(update.restart_required for update in (sockets(after, instance), memory(after, instance)))
