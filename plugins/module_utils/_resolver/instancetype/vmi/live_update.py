"""The effect of a VM's change on its running guest: changes of the VMI, and whether it needs a restart.

KubeVirt compares the expanded VM with its state at the guest's start. The condition RestartRequired says that they
differ in fields that cannot change in a running guest (``virt-controller/watch/vm``).
"""

from __future__ import annotations

from typing import Any, Final

from ...api import quantity
from ...api.tree import copy
from .hot_plug import LIVE_FIELDS, Update, disks, is_hotpluggable, memory, plugged, scheduling, sockets, volumes
from .maximums import RATIO

Manifest = dict[str, Any]

_OTHER_FIELD: Final = "a non-live-updatable field was changed in the template spec"


def compare(then: Manifest, now: Manifest, instance: Manifest, *, live: bool = True) -> Update:
    """The effect of a VM's changes since the guest's start.

    then, now: the specs of the VM's VMI at the guest's start, and now. instance: the running VMI.
    live: whether the cluster changes running guests (vmRolloutStrategy).
    """
    if not live:
        return Update(restart_required=_OTHER_FIELD if then != now else None)
    if _fixed(then) != _fixed(now):
        return Update(restart_required=_OTHER_FIELD)
    running = instance["spec"]
    patch = scheduling(now, running)
    restart = None
    for found in (sockets(now, _settled(instance)), memory(now, _settled(instance))):
        patch += found.patch
        restart = restart or found.restart_required
    return Update((*patch, *plugged(now, running)), restart)


def foreseen(vm: Manifest, before: Manifest, after: Manifest) -> bool:
    """Whether a running guest can probably take the change without a restart, judged by the VM alone.

    before, after: applied VMI specs. The state at the guest's start and the cluster's settings are unknown here, so
    only virt-controller's decision is certain.
    """
    if _fixed(before) != _fixed(after):
        return False
    running = copy(before)
    cpu, memory_of = running["domain"].get("cpu") or {}, running["domain"].get("memory") or {}
    if "sockets" in cpu:
        cpu.setdefault("maxSockets", cpu["sockets"] * RATIO)
    if "guest" in memory_of:
        most = quantity.parse(memory_of["guest"]).value * RATIO
        memory_of.setdefault("maxGuest", str(most))
    status = {"conditions": (vm.get("status") or {}).get("conditions") or []}
    instance = {"spec": running, "status": {**status, "memory": {"guestCurrent": memory_of.get("guest")}}}
    return not any(found.restart_required for found in (sockets(after, instance), memory(after, instance)))


def _settled(instance: Manifest) -> Manifest:
    """The VMI with the changes that are under way."""
    status = instance.get("status") or {}
    conditions = [
        entry
        for entry in status.get("conditions") or []
        if entry["type"] not in ("HotVCPUChange", "HotMemoryChange") or entry["status"] != "True"
    ]
    return {**instance, "status": {**status, "conditions": conditions}}


def _fixed(spec: Manifest) -> Manifest:
    """The spec without the fields that can change while the guest runs."""
    fixed = copy({key: value for key, value in spec.items() if key not in LIVE_FIELDS})
    (fixed["domain"].get("cpu") or {}).pop("sockets", None)
    amount = fixed["domain"].get("memory")
    if amount is not None:
        amount.pop("guest", None)
        if not amount:
            del fixed["domain"]["memory"]
    hot = {volume["name"] for volume in volumes(fixed) if is_hotpluggable(volume)}
    if hot:
        fixed["volumes"] = [volume for volume in volumes(fixed) if volume["name"] not in hot]
        fixed["domain"]["devices"]["disks"] = [disk for disk in disks(fixed) if disk["name"] not in hot]
    return fixed
