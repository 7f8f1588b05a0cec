"""Why KubeVirt asks for a restart: a VM differs from its state at the guest's start in fields that cannot change live
(``syncRestartRequired``).

Both specs are compared after expansion with their own revisions. Of the guest itself only interfaces and firmware UUID
count.
"""

from __future__ import annotations

from typing import Any, Final

from ...api import release_schema, semantic
from ...api.errors import Crash, FieldError
from ...api.release import NEWEST, Release
from ...api.tree import copy
from ..apply import applier
from ..find import find
from ..find.lookup import Lookup, Problem
from .hot_plug import LIVE_FIELDS
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


def differs(vm: Manifest, then: Manifest, wanted: Manifest, running: Manifest, *, live: bool, release: Release) -> bool:
    """Whether a VM differs from its guest's start in fields that need a restart.

    then, wanted: the applied VMI specs at the start and now, canonical. running: the VMI's spec, canonical. live: the
    cluster changes running guests (vmRolloutStrategy).
    """
    then = copy(then)
    if live or not release.stages_volumes:
        _leave_volumes(vm, then, wanted)
    if live:
        _leave_live(then, wanted)
    if not interfaces_need_restart(wanted, running, release):
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
