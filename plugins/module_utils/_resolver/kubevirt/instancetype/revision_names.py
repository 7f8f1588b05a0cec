"""Names and labels of the ControllerRevisions of instancetypes and preferences, and a VM's references to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ...api import behaviour
from ...api.manifest import Manifest, labels_of
from ...api.matcher import MatcherField
from ...api.release import NEWEST, Release

VERSION: Final = "v1beta1"
_LABEL: Final = "instancetype.kubevirt.io/object-"
GENERATION_LABEL: Final = f"{_LABEL}generation"
KIND_LABEL: Final = f"{_LABEL}kind"
NAME_LABEL: Final = f"{_LABEL}name"
UID_LABEL: Final = f"{_LABEL}uid"
VERSION_LABEL: Final = f"{_LABEL}version"


# The prefix of the ControllerRevisions with which guests start.
START: Final = "revision-start-vm-"


class RevisionReference(NamedTuple):
    """The ControllerRevision to which a VM refers.

    name: "" for none. pinned: named by the matcher (spec), not captured by virt-controller (status).
    """

    name: str = ""
    pinned: bool = False


def referenced_revision(vm: Manifest, matcher_field: MatcherField, release: Release = NEWEST) -> RevisionReference:
    """A matcher's revisionName has priority over the reference in the status."""
    pinned = matcher_field.matcher_or_empty(vm).get("revisionName") or ""
    if pinned:
        return RevisionReference(pinned, True)
    if not release.has(behaviour.CAPTURES_IN_STATUS):
        return RevisionReference()
    reference = matcher_field.reference_of(vm).get("controllerRevisionRef") or {}
    return RevisionReference(reference.get("name") or "")


def without_revisions(vm: Manifest, matcher_fields: Iterable[MatcherField]) -> Manifest:
    """The VM without pinned or captured revisions, so that the live objects count, as in a refresh."""
    spec, status = dict(vm.get("spec") or {}), dict(vm.get("status") or {})
    for matcher_field in matcher_fields:
        matcher = matcher_field.matcher_of(vm)
        if matcher is not None:
            spec[matcher_field.name] = {key: value for key, value in matcher.items() if key != "revisionName"}
        status.pop(matcher_field.reference, None)
    return {**vm, "spec": spec, "status": status}


def name(vm_name: str, object_name: str, uid: str, generation: int) -> str:
    """The name of an object's revision for a VM. KubeVirt does not shorten it."""
    return f"{vm_name}-{object_name}-{VERSION}-{uid}-{generation}"


def owner_reference(vm: Manifest) -> Manifest:
    """The ownerReference of a VM as the controller of an object."""
    metadata = vm.get("metadata") or {}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "name": metadata.get("name") or "",
        "uid": metadata.get("uid") or "",
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_latest(revision: Manifest) -> bool:
    """Whether a revision is labelled with the current version; the label decides, not the data."""
    return labels_of(revision).get(VERSION_LABEL) == VERSION


def recapture_fields(matcher: Manifest, reference: Manifest) -> list[str]:
    """The fields in which a matcher differs from the reference in the VM's status, so that KubeVirt captures again.

    A field that the matcher leaves out does not count.
    """
    fields = ("name", "kind", "inferFromVolume")
    return [field for field in fields if field in matcher and matcher[field] != reference.get(field)]


def generation_of(revision: Manifest) -> int:
    """The generation in a revision's label; 0 without one."""
    label = labels_of(revision).get(GENERATION_LABEL, "")
    return int(label) if label.isdigit() else 0
