"""The sources of a planned VM's disks, and whether they exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..choose.suggestions import SUGGESTED, Names, either
from ..instancetype.find.lookup import Lookup
from .references import created

Manifest = dict[str, Any]


class _Source(NamedTuple):
    """path: of the source's name, in the VM. kind, namespace, name: the object to copy."""

    path: str
    kind: str
    namespace: str
    name: str


# Fields of a DataVolume's source → the kind of the object.
_KINDS = {"pvc": "PersistentVolumeClaim", "snapshot": "VolumeSnapshot"}


def missing(vm: Manifest, live: Manifest | None, objects: Lookup, listed: Names) -> Iterator[str]:
    """One line for each source that does not exist: its import would never end.

    live: the live VM; the sources of its existing DataVolumes may be gone. Sources that the user may not read count as
    existing, because KubeVirt itself checks the permission to clone.
    """
    for source in _sources(vm, created(live or {})):
        if objects.get(source.kind, source.namespace, source.name) is None:
            names = [manifest["metadata"]["name"] for manifest in listed(source.kind, source.namespace)]
            close = difflib.get_close_matches(source.name, names, n=SUGGESTED, cutoff=0.5)
            hint = f"did you mean {either(close)}?" if close else "create the object first, or name an existing object"
            place = f"in the namespace {source.namespace}"
            yield f"{source.path}: no {source.kind} {source.name} {place}; {hint}"


def _sources(vm: Manifest, known: set[str]) -> Iterator[_Source]:
    own = str(vm["metadata"].get("namespace") or "")
    for index, template in enumerate(vm["spec"].get("dataVolumeTemplates") or []):
        if (template.get("metadata") or {}).get("name") in known:
            continue
        spec, path = template.get("spec") or {}, f"spec.dataVolumeTemplates[{index}].spec"
        reference = spec.get("sourceRef") or {}
        if reference.get("kind") == "DataSource" and reference.get("name"):
            namespace = reference.get("namespace") or own
            yield _Source(f"{path}.sourceRef.name", "DataSource", namespace, reference["name"])
        for field, kind in _KINDS.items():
            source = (spec.get("source") or {}).get(field) or {}
            if source.get("name"):
                yield _Source(f"{path}.source.{field}.name", kind, source.get("namespace") or own, source["name"])
