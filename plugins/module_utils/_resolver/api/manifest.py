"""Reads names, labels, conditions and volumes from manifests, and says how far an object is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .errors import FieldError

Manifest = dict[str, Any]
Options = dict[str, Any]

OS_ANNOTATION: Final = "vm.kubevirt.io/os"
"""The annotation of a guest that names its operating system, as common templates and preferences write it."""


def list_items(manifest: Mapping[str, Any]) -> list[Any] | None:
    """The items of a list of objects, with the kind and version that `kubectl` leaves to the list; None for no list."""
    kind, items = str(manifest.get("kind") or ""), manifest.get("items")
    if not kind.endswith("List") or not isinstance(items, list):
        return None
    shared = {"kind": kind.removesuffix("List"), "apiVersion": manifest.get("apiVersion")} if kind != "List" else {}
    given = {name: value for name, value in shared.items() if value}
    return [{**given, **item} if isinstance(item, dict) else item for item in items]


def metadata_of(manifest: Mapping[str, Any]) -> Manifest:
    """The metadata, {} without any. Raises FieldError if they are not a mapping."""
    metadata: Manifest = manifest.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise FieldError("metadata", f"expected a mapping, found {metadata!r}")
    return metadata


def namespace_of(manifest: Mapping[str, Any]) -> str:
    """The namespace, "" for none."""
    return str(metadata_of(manifest).get("namespace") or "")


def name_of(manifest: Mapping[str, Any]) -> str:
    return str(metadata_of(manifest).get("name") or "")


def namespaced_name(manifest: Mapping[str, Any]) -> tuple[str, str]:
    """Namespace and name."""
    return namespace_of(manifest), name_of(manifest)


def qualified_name(manifest: Mapping[str, Any]) -> str:
    """``shop/web``"""
    return f"{namespace_of(manifest)}/{name_of(manifest)}"


def labels_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    return metadata_of(manifest).get("labels") or {}


def annotations_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    return metadata_of(manifest).get("annotations") or {}


def condition_of(manifest: Mapping[str, Any], condition_type: str) -> Manifest:
    """The condition of a type in an object's status, {} without one."""
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == condition_type), {})


def has_condition(manifest: Mapping[str, Any], condition_type: str, status: str = "True") -> bool:
    """Whether an object has the condition with this status."""
    return condition_of(manifest, condition_type).get("status") == status


def created_at(manifest: Mapping[str, Any]) -> str:
    """When an object was created, as the API server wrote it; "" for one that it has not stored."""
    return str(metadata_of(manifest).get("creationTimestamp") or "")


def last_seen(event: Manifest) -> str:
    """When an event was last seen, as the API server wrote it."""
    series = event.get("series") or {}
    stamps = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((str(stamp) for stamp in stamps if stamp), created_at(event))


STALE: Final = 5.0
"""Seconds within which a controller observes an object after a write."""


class Progress(NamedTuple):
    """The object is done, has failed for good (the reason), or is pending (what it waits for).

    stuck: the failure if the state lasts for `grace` seconds; until then the object may recover. warning: about an
    object that is done.
    """

    done: bool = False
    failed: str | None = None
    pending: str = ""
    stuck: str | None = None
    grace: float = 0.0
    warning: str = ""

    def with_grace(self) -> Progress:
        """The state of an object whose controller may not have observed the last write: a failure may predate it."""
        return Progress(stuck=self.failed, grace=STALE) if self.failed else self


# A DataVolume's claim has the same name.
_CLAIMS = (("dataVolume", "name"), ("persistentVolumeClaim", "claimName"), ("memoryDump", "claimName"))


def volume_of(vm: Manifest, name: str) -> Manifest:
    """The volume of a VM by name, {} if it has none of that name."""
    volumes = ((vm["spec"].get("template") or {}).get("spec") or {}).get("volumes") or ()
    return next((volume for volume in volumes if volume.get("name") == name), {})


def claim_of(volume: Manifest) -> str:
    """The name of a volume's PersistentVolumeClaim, "" for none (``PVCNameFromVirtVolume``)."""
    for source, field in _CLAIMS:
        if volume.get(source) is not None:
            return str(volume[source].get(field) or "")
    return ""


def data_volume_of(volume: Manifest) -> str:
    """The name of a volume's DataVolume, "" for none."""
    return str((volume.get("dataVolume") or {}).get("name") or "")


def template_specs(vm: Manifest) -> dict[str, Manifest]:
    """The specs of a VM's dataVolumeTemplates by name."""
    templates = (vm.get("spec") or {}).get("dataVolumeTemplates") or ()
    return {name_of(template): template.get("spec") or {} for template in templates}
