"""ControllerRevisions of instancetypes and preferences: contents and comparison.

KubeVirt ``pkg/instancetype/revision``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ...api import matcher, release_schema, schema
from ...api.manifest import Manifest
from ...api.matcher import ROLE_OF_KIND, Role
from ...api.release import NEWEST, Release
from . import decode
from .naming import GENERATION_LABEL, KIND_LABEL, NAME_LABEL, UID_LABEL, VERSION, VERSION_LABEL, name, owner_reference

# A revision keeps the other metadata of its object.
_DROPPED_METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences", "managedFields")


def controller_revision(vm: Manifest, obj: Manifest, release: Release = NEWEST) -> Manifest:
    """The ControllerRevision of an instancetype or preference for a VM; both are plain manifests.

    Like objects of KubeVirt's client it lacks its own apiVersion (apps/v1) and kind (ControllerRevision). The object
    inside is always v1beta1. Raises schema.FieldError for an object that does not match the schema.
    """
    kind = obj["kind"]
    data = release_schema.canonical(ROLE_OF_KIND[kind].kind, {**obj, "apiVersion": matcher.API_VERSION}, release)
    metadata = {field: value for field, value in data["metadata"].items() if field not in _DROPPED_METADATA}
    data["metadata"], data["spec"] = metadata, as_written(data["spec"])
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
    return {"metadata": schema.canonical("ObjectMeta", meta), "data": data, "revision": 0}


def as_written(spec: Manifest) -> Manifest:
    """A canonical spec as Go writes it, without the empty nodeSelector that schema.canonical keeps for conflicts."""
    return {field: value for field, value in spec.items() if field != "nodeSelector" or value}


class Comparison(NamedTuple):
    """The comparison of two revisions. equal: both contain the same spec. error: why they cannot be compared."""

    equal: bool = False
    error: str | None = None


def compare(first: Manifest, second: Manifest, release: Release = NEWEST, role: Role | None = None) -> Comparison:
    """Whether two ControllerRevisions contain specs with the same meaning.

    Metadata and the scope of the objects do not count. role: see decode.
    """
    manifests = []
    for revision in (first, second):
        decoded = decode.decode(revision, release, role)
        if decoded.error is not None:
            return Comparison(error=decoded.error)
        manifests.append(decoded.manifest)
    manifest, other_manifest = manifests
    if manifest is None or other_manifest is None:
        return Comparison(error="unexpected type: <nil>")
    role_of_first = ROLE_OF_KIND[manifest["kind"]]
    return Comparison(
        role_of_first is ROLE_OF_KIND[other_manifest["kind"]]
        and same_spec(role_of_first, manifest["spec"], other_manifest["spec"])
    )


def same_spec(role: Role, spec: Manifest, other: Manifest) -> bool:
    """Whether two canonical specs have the same meaning: quantities by value, the rest as written."""
    return schema.equal(role.spec_type, spec, other)
