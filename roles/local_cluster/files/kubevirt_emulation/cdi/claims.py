"""The claims of DataVolumes. Pure."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.cdi import names

Manifest = dict[str, Any]

NO_CLASS = "PVC spec is missing accessMode and no storageClass to choose profile"


def marks_of(manifest: Manifest) -> dict[str, str]:
    """An object's annotations."""
    return manifest["metadata"].get("annotations") or {}


def requested(volume: Manifest) -> Any:
    """The size that a DataVolume asks for, None where it leaves it to its source."""
    return ((_target(volume).get("resources") or {}).get("requests") or {}).get("storage")


def class_name(volume: Manifest) -> str | None:
    """The StorageClass that a DataVolume names."""
    found: str | None = _target(volume).get("storageClassName")
    return found


def needs_class(volume: Manifest) -> bool:
    """Whether only a StorageClass can say how the claim is accessed."""
    return not _target(volume).get("accessModes")


def new(volume: Manifest, size: Any, storage_class: str | None, filled: bool) -> Manifest:
    """The claim of a DataVolume. filled: whether nothing is left to do but to bind it."""
    target, spec, metadata = _target(volume), volume["spec"], volume["metadata"]
    marks = {**marks_of(volume), names.CONTENT_TYPE: spec.get("contentType") or "kubevirt"}
    if (spec.get("source") or {}).get("upload") is not None:
        marks[names.UPLOAD_TARGET] = ""
    if filled:
        marks[names.POD_PHASE] = "Succeeded"
    claim: Manifest = {
        "accessModes": target.get("accessModes") or ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
    }
    for field, value in (("volumeMode", target.get("volumeMode")), ("storageClassName", storage_class)):
        if value:
            claim[field] = value
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {"app": "containerized-data-importer", **(metadata.get("labels") or {})},
            "annotations": marks,
            "ownerReferences": [_owner(volume)],
        },
        "spec": claim,
    }


def bound(claim: Manifest) -> Manifest:
    """The status that a claim has when a provisioner has made its volume."""
    spec = claim["spec"]
    capacity = {"storage": spec["resources"]["requests"]["storage"]}
    return {"status": {"phase": "Bound", "accessModes": spec["accessModes"], "capacity": capacity}}


def is_bound(claim: Manifest) -> bool:
    """Whether a claim has a volume."""
    return (claim.get("status") or {}).get("phase") == "Bound"


def belongs_to(claim: Manifest, volume: Manifest) -> bool:
    """Whether a DataVolume may fill a claim of its name."""
    owners = claim["metadata"].get("ownerReferences") or []
    return any(owner.get("uid") == volume["metadata"]["uid"] for owner in owners)


def is_adopted(claim: Manifest, volume: Manifest) -> bool:
    """Whether a claim that others made is taken for filled."""
    if marks_of(claim).get(names.POPULATED_FOR) == volume["metadata"]["name"]:
        return True
    return marks_of(volume).get(names.ADOPTION) == "true"


def waits_for_consumer(claim: Manifest, storage_class: Manifest | None) -> bool:
    """Whether a claim is bound only when a pod uses it."""
    late = (storage_class or {}).get("volumeBindingMode") == "WaitForFirstConsumer"
    return late and names.BIND not in marks_of(claim)


def _owner(volume: Manifest) -> Manifest:
    return {
        "apiVersion": volume["apiVersion"],
        "kind": volume["kind"],
        "name": volume["metadata"]["name"],
        "uid": volume["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _target(volume: Manifest) -> Manifest:
    spec = volume["spec"]
    return spec.get("storage") or spec.get("pvc") or {}
