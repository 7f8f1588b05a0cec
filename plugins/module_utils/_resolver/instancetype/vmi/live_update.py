"""The effect of a VM's change on its running guest: changes of the VMI, and whether it needs a restart.

KubeVirt compares the expanded VM with its state at the guest's start. The condition RestartRequired says that they
differ in fields that cannot change in a running guest (``virt-controller/watch/vm``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...api import schema, semantic
from ...api.tree import copy
from ..find.lookup import Problem
from . import interface_plug, volume_plug
from .cluster import Cluster, KubeVirt
from .hot_plug import Update, memory, scheduling, sockets
from .maximums import limits, set_maximums
from .restart_required import OTHER_FIELD, applied, differs

Manifest = dict[str, Any]

_VMI_SPEC: Final = "VirtualMachineInstanceSpec"
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
    live = kubevirt.live_updates
    if differs(now, past["spec"], wanted, running, live=live, release=cluster.release):
        return Update(changes, OTHER_FIELD)
    if not live:
        return Update(changes)
    changes += scheduling(wanted, running)
    restart = None
    updates = [sockets(wanted, instance), memory(wanted, instance), volume_plug.migrated(now, instance)]
    if kubevirt.release.replaces_volumes:
        updates.append(volume_plug.replaced(_canonical(now), instance))
    for found in updates:
        changes += found.changes
        restart = restart or found.restart_required
    return Update(changes, restart)


def _canonical(vm: Manifest) -> Manifest:
    spec = schema.canonical(_VMI_SPEC, vm["spec"]["template"]["spec"])
    return {"spec": {**vm["spec"], "template": {"spec": spec}}}


def _plugged(vm: Manifest, instance: Manifest, kubevirt: KubeVirt) -> Iterator[str]:
    """The fields that change by what is plugged in and out, whether or not the rest needs a restart."""
    vm, running = _canonical(vm), instance["spec"]
    connected = interface_plug.plugged(vm["spec"]["template"]["spec"], instance, kubevirt.release)
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
    if differs(vm, before, after, before, live=True, release=kubevirt.release):
        return False
    running = copy(before)
    for part in ("cpu", "memory"):
        running["domain"].setdefault(part, {})
    set_maximums(running, limits(dict(kubevirt.settings)))
    status = {"conditions": (vm.get("status") or {}).get("conditions") or []}
    guest = {"guestCurrent": running["domain"]["memory"].get("guest")}
    instance = {"spec": running, "status": {**status, "memory": guest}}
    return not any(found.restart_required for found in (sockets(after, instance), memory(after, instance)))
