"""The effect of a VM's change on its running guest: changes of the VMI, and why it needs a restart.

KubeVirt compares the expanded VM with its state at the guest's start, both expanded with their own revisions. The
condition RestartRequired says that they differ in fields that cannot change in a running guest (``syncRestartRequired``
of ``virt-controller/watch/vm``). Of the guest itself only interfaces and firmware UUID count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...api import release_schema, schema, semantic
from ...api.errors import Crash, FieldError
from ...api.release import NEWEST, Release
from ...api.tree import copy
from ..apply import applier
from ..find import find
from ..find.lookup import Lookup, Problem
from . import interface_plug, volume_plug
from .cluster import Cluster, KubeVirt
from .hot_plug import LIVE_FIELDS, Update, limits, memory, scheduling, set_maximums, sockets
from .interface_plug import interfaces_need_restart
from .volume_plug import disks_change_live, volumes_change_live

Manifest = dict[str, Any]

OTHER_FIELD: Final = "a non-live-updatable field was changed in the template spec"
_VMI_SPEC: Final = "VirtualMachineInstanceSpec"


def applied(vm: Manifest, lookup: Lookup, release: Release = NEWEST) -> Manifest | Problem:
    """The VM's canonical template with instancetype and preference applied, without defaults (``ApplyToVM``)."""
    try:
        vm = release_schema.canonical("VirtualMachine", vm, release)
    except FieldError as error:
        return Problem(str(error))
    template: Manifest = vm["spec"]["template"]
    instancetype = find.instancetype_spec(vm, lookup, release)
    preference = find.preference_spec(vm, lookup, release)
    problem = instancetype.error or preference.error
    if problem is not None:
        return problem
    try:
        conflicts = applier.apply_in_place(
            template["metadata"], template["spec"], instancetype.spec, preference.spec, release
        )
    except Crash as crash:
        return Problem(str(crash))
    if conflicts:
        paths = ", ".join(one.full_path("spec") for one in conflicts)
        return Problem(f"VM conflicts with instancetype spec in fields: [{paths}]")
    return template


def differs(vm: Manifest, then: Manifest, wanted: Manifest, running: Manifest, kubevirt: KubeVirt) -> bool:
    """Whether a VM differs from its guest's start in fields that need a restart.

    then, wanted: the applied VMI specs at the start and now, canonical. running: the VMI's spec, canonical.
    """
    then = copy(then)
    if kubevirt.live_updates or not kubevirt.release.stages_volumes:
        _leave_volumes(vm, then, wanted)
    if kubevirt.live_updates:
        _leave_live(then, wanted)
    if not interfaces_need_restart(wanted, running, kubevirt):
        _take(then, wanted, "networks")
        _take(then["domain"]["devices"], wanted["domain"]["devices"], "interfaces")
    _leave_firmware_uuid(then, wanted, running)
    return not semantic.equal(_VMI_SPEC, then, wanted)


def _take(then: Manifest, wanted: Manifest, field: str) -> None:
    """Removes a field from the comparison."""
    then.pop(field, None)
    if field in wanted:
        then[field] = copy(wanted[field])


def _leave_live(then: Manifest, wanted: Manifest) -> None:
    """Removes the fields that can change in a running guest."""
    if then["domain"].get("cpu") is not None and wanted["domain"].get("cpu") is not None:
        _take(then["domain"]["cpu"], wanted["domain"]["cpu"], "sockets")
    guest = (wanted["domain"].get("memory") or {}).get("guest")
    if guest is not None:
        then["domain"].setdefault("memory", {})["guest"] = guest
    for field in LIVE_FIELDS:
        _take(then, wanted, field)


def _leave_volumes(vm: Manifest, then: Manifest, wanted: Manifest) -> None:
    """Removes volumes and disks, if all their changes can be hotplugged or are migrations."""
    volumes, disks = volumes_change_live(vm, then, wanted), disks_change_live(then, wanted)
    if volumes:
        _take(then, wanted, "volumes")
    if disks:
        _take(then["domain"]["devices"], wanted["domain"]["devices"], "disks")


def _leave_firmware_uuid(then: Manifest, wanted: Manifest, running: Manifest) -> None:
    """Ignores the UUID that virt-controller gave the VM after its start: the guest has the same."""
    uuid = (wanted["domain"].get("firmware") or {}).get("uuid")
    if wanted["domain"].get("firmware") is None or running["domain"].get("firmware") is None:
        return
    if running["domain"]["firmware"].get("uuid") == uuid:
        _take(then["domain"].setdefault("firmware", {}), wanted["domain"]["firmware"], "uuid")


_ENDED: Final = frozenset({"Succeeded", "Failed"})


def takes_changes(instance: Manifest) -> bool:
    """Whether changes of a VM reach its VMI, or ask for its restart: from its creation until it ends."""
    ended = (instance.get("status") or {}).get("phase") in _ENDED
    return not ended and not instance["metadata"].get("deletionTimestamp")


def compare(then: Manifest, now: Manifest, instance: Manifest, cluster: Cluster) -> Update:
    """The effect of a VM's changes since its guest's start.

    then, now: the VM at its guest's start, and now. instance: its VMI.
    """
    kubevirt = cluster.kubevirt
    past, template = (applied(vm, cluster.objects, cluster.release) for vm in (then, now))
    if isinstance(past, Problem) or isinstance(template, Problem):
        return Update()
    wanted: Manifest = template["spec"]
    instance = {**instance, "spec": schema.canonical(_VMI_SPEC, instance["spec"])}
    running = instance["spec"]
    changes = tuple(_plugged(now, instance, kubevirt))
    if differs(now, past["spec"], wanted, running, kubevirt):
        return Update(changes, OTHER_FIELD)
    if not kubevirt.live_updates:
        return Update(changes)
    changes += scheduling(wanted, running)
    restart = None
    updates = [sockets(wanted, instance), memory(wanted, instance), volume_plug.migrated(now, instance)]
    if kubevirt.release.replaces_volumes:
        updates.append(volume_plug.replaced(_canonical(now), instance))
    for found in updates:
        changes += found.changes
        restart = restart or found.restart_required
    # KubeVirt takes the sockets first, and nothing else if it cannot plug them yet.
    return Update(changes, restart, updates[0].unannounced)


def _canonical(vm: Manifest) -> Manifest:
    spec = schema.canonical(_VMI_SPEC, vm["spec"]["template"]["spec"])
    return {"spec": {**vm["spec"], "template": {"spec": spec}}}


def _plugged(vm: Manifest, instance: Manifest, kubevirt: KubeVirt) -> Iterator[str]:
    """The fields that change by what is plugged in and out, whether or not the rest needs a restart."""
    vm, running = _canonical(vm), instance["spec"]
    connected = interface_plug.plugged(vm["spec"]["template"]["spec"], instance, kubevirt)
    if connected.get("networks") != running.get("networks"):
        yield "networks"
    interfaces = connected["domain"]["devices"].get("interfaces")
    if interfaces != running["domain"]["devices"].get("interfaces"):
        yield "domain.devices.interfaces"
    if kubevirt.plugs_volumes:
        volumes, disks = volume_plug.plugged(vm, instance)
        if not semantic.equal("[]Volume", running.get("volumes") or [], volumes):
            yield "volumes"
        if not semantic.equal("[]Disk", running["domain"]["devices"].get("disks") or [], disks):
            yield "domain.devices.disks"


def foreseen(vm: Manifest, before: Manifest, after: Manifest, kubevirt: KubeVirt) -> bool:
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
    set_maximums(running, limits(dict(kubevirt.settings)))
    status = {"conditions": (vm.get("status") or {}).get("conditions") or []}
    guest = {"guestCurrent": running["domain"]["memory"].get("guest")}
    instance = {"spec": running, "status": {**status, "memory": guest}}
    return not any(found.restart_required for found in (sockets(after, instance), memory(after, instance)))
