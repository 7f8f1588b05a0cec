"""The ControllerRevisions of instancetypes and preferences (KubeVirt ``pkg/instancetype/revision``)."""

from __future__ import annotations

from typing import Final

from ...api import matcher, release_schema, schema
from ...api.manifest import Manifest
from ...api.matcher import MATCHER_FIELD_OF_KIND
from ...api.release import NEWEST, Release
from .revision_names import (
    GENERATION_LABEL,
    KIND_LABEL,
    NAME_LABEL,
    UID_LABEL,
    VERSION,
    VERSION_LABEL,
    name,
    owner_reference,
)

# A revision keeps the other metadata of its object.
_DROPPED_METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences", "managedFields")


def controller_revision(vm: Manifest, obj: Manifest, release: Release = NEWEST) -> Manifest:
    """The ControllerRevision of an instancetype or preference for a VM; both are plain manifests.

    Like objects of KubeVirt's client it lacks its own apiVersion (apps/v1) and kind (ControllerRevision). The object
    inside is always v1beta1. Raises FieldError for an object that does not match the schema.
    """
    kind = obj["kind"]
    data = release_schema.canonical(
        MATCHER_FIELD_OF_KIND[kind].kind, {**obj, "apiVersion": matcher.API_VERSION}, release
    )
    metadata = {field: value for field, value in data["metadata"].items() if field not in _DROPPED_METADATA}
    data["metadata"], data["spec"] = metadata, as_written(data["spec"])
    generation, uid, object_name = metadata.get("generation", 0), metadata.get("uid", ""), metadata.get("name", "")
    vm_metadata = vm.get("metadata") or {}
    meta = {
        "name": name(vm_metadata.get("name") or "", object_name, uid, generation),
        "namespace": vm_metadata.get("namespace") or "",
        "labels": {
            GENERATION_LABEL: str(generation),
            KIND_LABEL: kind,
            NAME_LABEL: object_name,
            UID_LABEL: uid,
            VERSION_LABEL: VERSION,
        },
        "ownerReferences": [owner_reference(vm)],
    }
    return {"metadata": schema.canonical("ObjectMeta", meta), "data": data, "revision": 0}


def as_written(spec: Manifest) -> Manifest:
    """A canonical spec as Go writes it, without the empty nodeSelector that schema.canonical keeps for conflicts."""
    return {field: value for field, value in spec.items() if field != "nodeSelector" or value}
