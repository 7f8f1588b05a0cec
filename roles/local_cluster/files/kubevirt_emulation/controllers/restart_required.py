"""The condition RestartRequired: a VM differs from its state at the guest's start in fields that cannot change live.

Both specs are compared after expansion with their own revisions. Of the guest itself only interfaces and firmware UUID
count.
"""

from __future__ import annotations

from typing import Any

from _resolver.api import release_schema, schema, semantic
from _resolver.api.errors import Crash, FieldError
from _resolver.api.release import NEWEST, Release
from _resolver.api.tree import copy
from _resolver.instancetype.apply import applier
from _resolver.instancetype.find import find
from _resolver.instancetype.find.lookup import Lookup, Problem
from kubevirt_emulation.clock import now
from kubevirt_emulation.controllers import vm_state, volume_changes
from kubevirt_emulation.controllers.context import Context, Work

Manifest = dict[str, Any]

CONDITION = "RestartRequired"
_OTHER_FIELD = "a non-live-updatable field was changed in the template spec"
_VMI_SPEC = "VirtualMachineInstanceSpec"


async def sync(context: Context, work: Work, started: Manifest | None) -> None:
    """Sets or removes the condition.

    started: the VM's spec at the guest's start. Without it, or if a spec cannot be expanded, the condition stays as it
    is.
    """
    vm, vmi, configuration = work.vm, work.vmi, context.configuration
    if started is None or vmi is None:
        return
    differs = await context.objects.resolve(
        lambda lookup: compare(vm, started, vmi, lookup, configuration.live_updates, configuration.release)
    )
    if differs:
        require(work, _OTHER_FIELD)
    elif differs is False and configuration.behaviour.withdraws_restarts:
        settle(work)


def is_set(work: Work) -> bool:
    """Whether the VM has the condition, whatever its status."""
    return vm_state.condition(work.vm, CONDITION) is not None


def require(work: Work, message: str) -> None:
    """Sets the condition. An existing one keeps its message, because KubeVirt compares only status and reason."""
    condition = vm_state.condition(work.vm, CONDITION)
    if condition is not None and condition["status"] == "True" and not condition.get("reason"):
        return
    settle(work)
    new = {"type": CONDITION, "status": "True", "message": message, "lastProbeTime": None, "lastTransitionTime": now()}
    _replace(work, [*(vm_state.status(work.vm).get("conditions") or []), new])


def settle(work: Work) -> None:
    """Removes the condition."""
    conditions = vm_state.status(work.vm).get("conditions") or []
    _replace(work, [entry for entry in conditions if entry["type"] != CONDITION])


def _replace(work: Work, conditions: list[Manifest]) -> None:
    work.vm = {**work.vm, "status": {**vm_state.status(work.vm), "conditions": conditions}}


def applied(vm: Manifest, lookup: Lookup, release: Release = NEWEST) -> Manifest | Problem:
    """The VM's canonical template with instancetype and preference applied, without defaults."""
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
        paths = ", ".join(conflict.full_path("spec") for conflict in conflicts)
        return Problem(f"VM conflicts with instancetype spec in fields: [{paths}]")
    return template


def compare(
    vm: Manifest, started: Manifest, vmi: Manifest, lookup: Lookup, live: bool, release: Release = NEWEST
) -> bool | None:
    """Pure: whether the VM differs from its start in fields that need a restart; None if it cannot be expanded.

    started: its spec at the start. live: the cluster changes running guests.
    """
    present = applied(vm, lookup, release)
    past = applied({**vm, "spec": started, "status": {}}, lookup, release)
    if isinstance(present, Problem) or isinstance(past, Problem):
        return None
    then, wanted, running = past["spec"], present["spec"], schema.canonical(_VMI_SPEC, vmi["spec"])
    _leave_volumes(vm, then, wanted)
    if live:
        _leave_live(then, wanted)
    if not _interfaces_differ(wanted, running):
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
    for field in ("nodeSelector", "affinity", "tolerations"):
        _take(then, wanted, field)


def _leave_volumes(vm: Manifest, then: Manifest, wanted: Manifest) -> None:
    """Removes volumes and disks, if all their changes can be hotplugged or are migrations."""
    if volume_changes.volumes_change_live(vm, then, wanted):
        _take(then, wanted, "volumes")
    if volume_changes.disks_change_live(then, wanted):
        _take(then["domain"]["devices"], wanted["domain"]["devices"], "disks")


def _interfaces_differ(wanted: Manifest, running: Manifest) -> bool:
    """Whether interfaces or networks of the guest were removed or changed; new ones and states do not count."""
    if _has_pod_network(wanted) and not _has_pod_network(running):
        return True

    def interfaces(spec: Manifest) -> dict[str, Manifest]:
        entries = spec["domain"]["devices"].get("interfaces") or []
        return {entry["name"]: {key: entry[key] for key in entry if key != "state"} for entry in entries}

    def networks(spec: Manifest) -> dict[str, Manifest]:
        found = {entry["name"]: copy(entry) for entry in spec.get("networks") or []}
        for entry in found.values():
            if entry.get("multus") is not None:
                entry["multus"]["networkName"] = ""
        return found

    return any(of(wanted).get(name) != entry for of in (interfaces, networks) for name, entry in of(running).items())


def _has_pod_network(spec: Manifest) -> bool:
    return any(entry.get("pod") is not None for entry in spec.get("networks") or [])


def _leave_firmware_uuid(then: Manifest, wanted: Manifest, running: Manifest) -> None:
    """Ignores the UUID that virt-controller gave the VM after its start: the guest has the same."""
    uuid = (wanted["domain"].get("firmware") or {}).get("uuid")
    if wanted["domain"].get("firmware") is None or running["domain"].get("firmware") is None:
        return
    if running["domain"]["firmware"].get("uuid") == uuid:
        _take(then["domain"].setdefault("firmware", {}), wanted["domain"]["firmware"], "uuid")
