"""ControllerRevisions of instancetypes and preferences: name, content, comparison, and which one a VM refers to.

KubeVirt ``pkg/instancetype/revision``.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...api import release_schema, schema, semantic
from ...api.matcher import ROLE_OF_KIND, Role
from ...api.release import NEWEST, Release
from . import decode

__all__ = [
    "GENERATION_LABEL",
    "KIND_LABEL",
    "NAME_LABEL",
    "UID_LABEL",
    "VERSION",
    "VERSION_LABEL",
    "Comparison",
    "Reference",
    "as_written",
    "compare",
    "controller_revision",
    "is_latest",
    "labels",
    "name",
    "owner_reference",
    "referenced",
    "same_spec",
]

Manifest = dict[str, Any]

VERSION: Final = "v1beta1"

_LABEL: Final = "instancetype.kubevirt.io/object-"
GENERATION_LABEL: Final = f"{_LABEL}generation"
KIND_LABEL: Final = f"{_LABEL}kind"
NAME_LABEL: Final = f"{_LABEL}name"
UID_LABEL: Final = f"{_LABEL}uid"
VERSION_LABEL: Final = f"{_LABEL}version"

# Of the object's metadata a revision keeps the rest.
_NOT_KEPT: Final = ("labels", "annotations", "finalizers", "ownerReferences", "managedFields")


class Reference(NamedTuple):
    """Which ControllerRevision a VM refers to.

    name: "" for none. pinned: named by the matcher (spec), not captured by virt-controller (status).
    """

    name: str = ""
    pinned: bool = False


def referenced(vm: Manifest, role: Role, release: Release = NEWEST) -> Reference:
    """The matcher's revisionName counts before the reference in the status."""
    pinned = (role.matcher_of(vm) or {}).get("revisionName") or ""
    if pinned:
        return Reference(pinned, True)
    if not release.captures_in_status:
        return Reference()
    reference = (role.reference_of(vm) or {}).get("controllerRevisionRef") or {}
    return Reference(reference.get("name") or "")


def name(
    vm_name: str, object_name: str, uid: str, generation: int, version: str = VERSION, release: Release = NEWEST
) -> str:
    """The name of the revision of an object for a VM. KubeVirt does not shorten it."""
    return release.revision_name.format(vm=vm_name, object=object_name, version=version, uid=uid, generation=generation)


def controller_revision(vm: Manifest, obj: Manifest, release: Release = NEWEST) -> Manifest:
    """The ControllerRevision that keeps an instancetype or preference for a VM; both are plain manifests.

    As KubeVirt's client has it: without apiVersion (apps/v1) and kind (ControllerRevision) of its own. The object
    within is always v1beta1. Raises schema.FieldError for an object that is not of the API's types.
    """
    kind = obj["kind"]
    kept = release_schema.canonical(ROLE_OF_KIND[kind].kind, {**obj, "apiVersion": decode.API_VERSION}, release)
    metadata = {field: value for field, value in kept["metadata"].items() if field not in _NOT_KEPT}
    kept["metadata"], kept["spec"] = metadata, as_written(kept["spec"])
    generation, uid, object_name = metadata.get("generation", 0), metadata.get("uid", ""), metadata.get("name", "")
    vm_metadata = vm.get("metadata") or {}
    meta = {
        "name": name(vm_metadata.get("name") or "", object_name, uid, generation, release=release),
        "namespace": vm_metadata.get("namespace") or "",
        "labels": {
            GENERATION_LABEL: str(generation),
            KIND_LABEL: kind,
            NAME_LABEL: object_name,
            UID_LABEL: uid,
            VERSION_LABEL: VERSION,
        }
        if release.labels_revisions
        else {},
        "ownerReferences": [owner_reference(vm)],
    }
    return {"metadata": schema.canonical("ObjectMeta", meta), "data": kept, "revision": 0}


def as_written(spec: Manifest) -> Manifest:
    """A canonical spec as Go writes it: schema.canonical keeps an empty nodeSelector for the sake of conflicts."""
    return {field: value for field, value in spec.items() if field != "nodeSelector" or value}


def owner_reference(vm: Manifest) -> Manifest:
    """The reference of a VM as the controller of what is made for it."""
    metadata = vm.get("metadata") or {}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "name": metadata.get("name") or "",
        "uid": metadata.get("uid") or "",
        "controller": True,
        "blockOwnerDeletion": True,
    }


def labels(revision: Manifest) -> dict[str, str]:
    """The labels of a manifest."""
    return (revision.get("metadata") or {}).get("labels") or {}


def is_latest(revision: Manifest) -> bool:
    """Whether a revision is labelled as of the version that KubeVirt writes today; the label decides, not the data."""
    return labels(revision).get(VERSION_LABEL) == VERSION


class Comparison(NamedTuple):
    """equal: whether both hold the same spec. error: why they cannot be compared."""

    equal: bool = False
    error: str | None = None


def compare(one: Manifest, other: Manifest, release: Release = NEWEST, role: Role | None = None) -> Comparison:
    """Whether two ControllerRevisions hold the same spec by meaning.

    Metadata does not count, nor whether the objects are cluster-wide. role: see decode.
    """
    specs = []
    for revision in (one, other):
        decoded = decode.decode(revision, release, role)
        if decoded.error is not None:
            return Comparison(error=decoded.error)
        specs.append(decoded.manifest)
    first, second = specs
    if first is None or second is None:
        return Comparison(error="unexpected type: <nil>")
    held = ROLE_OF_KIND[first["kind"]]
    return Comparison(held is ROLE_OF_KIND[second["kind"]] and same_spec(held, first["spec"], second["spec"]))


def same_spec(role: Role, one: Manifest, other: Manifest) -> bool:
    """Whether two canonical specs mean the same: quantities by value, the rest as written."""
    return semantic.equal(role.spec_type, one, other)
