"""ControllerRevisions to which nothing refers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..api.matcher import ROLES, Role
from ..kubevirt.find import naming
from ..kubevirt.find.naming import captured_anew
from ..kubevirt.vmi.outstanding import start_revision_prefix

Manifest = dict[str, Any]


def unreferenced(vms: Iterable[Manifest], revisions: Iterable[Manifest], others: Iterable[str] = ()) -> list[Manifest]:
    """Revisions of instancetypes and preferences to which no VM refers, oldest generation first.

    vms, revisions: all of one namespace. others: names to which snapshots and restores refer.
    While virt-controller captures for a VM, all revisions of that VM count as referenced. The revisions of a running
    guest's start count too, because KubeVirt compares the VM with them to decide whether a restart is needed.
    """
    vms, revisions = list(vms), list(revisions)
    used, capturing = {*others, *_started_with(vms, revisions)}, set()
    for vm in vms:
        for role in ROLES:
            used.add((role.matcher_of(vm) or {}).get("revisionName") or "")
            used.add(((role.reference_of(vm) or {}).get("controllerRevisionRef") or {}).get("name") or "")
        if any(_captures(vm, role) for role in ROLES):
            capturing.add(vm["metadata"].get("uid"))
    return sorted(
        (
            one
            for one in revisions
            if naming.NAME_LABEL in naming.labels(one)
            and one["metadata"]["name"] not in used
            and not any(owner.get("uid") in capturing for owner in one["metadata"].get("ownerReferences") or [])
        ),
        key=naming.generation_of,
    )


def _started_with(vms: Iterable[Manifest], revisions: Iterable[Manifest]) -> set[str]:
    """The names in the start revisions of VMs with a guest."""
    running = {
        start_revision_prefix(vm) for vm in vms if (vm.get("status") or {}).get("created") and vm["metadata"].get("uid")
    }
    starts = [one for one in revisions if f"{one['metadata']['name'].rpartition('-')[0]}-" in running]
    specs = [(one.get("data") or {}).get("spec") or {} for one in starts]
    return {(spec.get(role.matcher) or {}).get("revisionName") or "" for spec in specs for role in ROLES}


def _captures(vm: Manifest, role: Role) -> bool:
    """Whether virt-controller is about to change the VM's revision."""
    matcher = role.matcher_of(vm)
    if not matcher or matcher.get("revisionName"):
        return False
    reference = role.reference_of(vm) or {}
    return not reference.get("controllerRevisionRef") or bool(captured_anew(matcher, reference))
