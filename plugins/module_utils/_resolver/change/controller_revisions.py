"""The ControllerRevisions of a namespace: by owner; unused ones; copies of a VM that lose theirs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..api.manifest import Manifest, labels_of
from ..api.matcher import MATCHER_FIELDS, MatcherField
from ..api.release import Release
from ..kubevirt.instancetype import revision_names
from ..kubevirt.instancetype.revision_names import recapture_fields
from ..kubevirt.vm.start import start_revision_prefix


def by_owner(revisions: Iterable[Manifest]) -> dict[str, list[Manifest]]:
    """UID of an owner, such as a VM → its revisions."""
    owned: dict[str, list[Manifest]] = {}
    for revision in revisions:
        for uid in {owner.get("uid", "") for owner in revision["metadata"].get("ownerReferences") or []}:
            owned.setdefault(uid, []).append(revision)
    return owned


BACKUP: Final = "backup"
# A clone counts, too: it is a snapshot and its restore.
SNAPSHOT: Final = "snapshot"


def copies_without_revisions(vm: Manifest, release: Release) -> list[str]:
    """The copies of a VM that lose its revisions: BACKUP, SNAPSHOT, both or neither.

    Both copy the spec without the status. A snapshot of a VM with a VMI contains the spec of the guest's start, in
    which KubeVirt has named the revisions.
    """
    references = (
        revision_names.referenced_revision(vm, matcher_field, release)
        for matcher_field in MATCHER_FIELDS
        if matcher_field.matcher_of(vm)
    )
    if not any(reference.name and not reference.pinned for reference in references):
        return []
    return [BACKUP] if (vm.get("status") or {}).get("created") else [BACKUP, SNAPSHOT]


def unreferenced(vms: Iterable[Manifest], revisions: Iterable[Manifest], others: Iterable[str] = ()) -> list[Manifest]:
    """Revisions of instancetypes and preferences to which no VM refers, oldest generation first.

    vms, revisions: all of one namespace. others: names to which snapshots and restores refer.
    While virt-controller captures for a VM, all revisions of that VM count as referenced. The revisions of a running
    guest's start count too, because KubeVirt compares the VM with them to decide whether a restart is needed.
    """
    vms, revisions = list(vms), list(revisions)
    used, capturing = {*others, *_started_with(vms, revisions)}, set()
    for vm in vms:
        for matcher_field in MATCHER_FIELDS:
            used.add(matcher_field.matcher_or_empty(vm).get("revisionName") or "")
            used.add((matcher_field.reference_of(vm).get("controllerRevisionRef") or {}).get("name") or "")
        if any(
            not is_captured(vm, matcher_field) and not matcher_field.matcher_or_empty(vm).get("revisionName")
            for matcher_field in MATCHER_FIELDS
        ):
            capturing.add(vm["metadata"].get("uid"))
    return sorted(
        (
            revision
            for revision in revisions
            if revision_names.NAME_LABEL in labels_of(revision)
            and revision["metadata"]["name"] not in used
            and not any(owner.get("uid") in capturing for owner in revision["metadata"].get("ownerReferences") or [])
        ),
        key=revision_names.generation_of,
    )


def _started_with(vms: Iterable[Manifest], revisions: Iterable[Manifest]) -> set[str]:
    """The names in the start revisions of VMs with a guest."""
    running = {
        start_revision_prefix(vm) for vm in vms if (vm.get("status") or {}).get("created") and vm["metadata"].get("uid")
    }
    starts = [revision for revision in revisions if f"{revision['metadata']['name'].rpartition('-')[0]}-" in running]
    specs = [(start.get("data") or {}).get("spec") or {} for start in starts]
    return {
        (spec.get(matcher_field.name) or {}).get("revisionName") or ""
        for spec in specs
        for matcher_field in MATCHER_FIELDS
    }


def is_captured(vm: Manifest, matcher_field: MatcherField) -> bool:
    """Whether virt-controller has captured the object in the matcher. True if the cluster expanded the matcher."""
    matcher, reference = matcher_field.matcher_of(vm), matcher_field.reference_of(vm)
    if not matcher:
        return True
    if not reference:
        return bool(matcher.get("revisionName"))
    return bool(reference.get("controllerRevisionRef")) and not recapture_fields(matcher, reference)
