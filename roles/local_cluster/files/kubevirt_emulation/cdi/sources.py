"""What a DataVolume is filled from: its own source, or what its DataSource leads to."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from kubevirt_emulation.cdi.context import Context

Manifest = dict[str, Any]
Asked = tuple[str, str, str]  # kind, namespace, name

_CLAIM = "PersistentVolumeClaim"
_SNAPSHOT = "VolumeSnapshot"


class Source(NamedTuple):
    """kind: the key of `spec.source`. of: the object that is cloned, with its labels and its size.

    missing: what does not exist, as CDI's event has it. ready: whether there is something to clone by now.
    """

    kind: str
    of: Asked | None = None
    labels: Mapping[str, str] = MappingProxyType({})
    size: Any = None
    missing: str = ""
    ready: bool = True


def source_of(context: Context, volume: Manifest) -> Source:
    """The source of a DataVolume."""
    spec, namespace = volume["spec"], volume["metadata"]["namespace"]
    reference = spec.get("sourceRef")
    if reference is None:
        return _given(context, spec.get("source") or {}, namespace)
    asked = ("DataSource", reference.get("namespace") or namespace, reference["name"])
    found, _error = lead(context, context.caches["DataSource"].get(asked[1:]))
    if found is None:
        return Source("sourceRef", asked, missing=f"The source DataSource {asked[2]} doesn't exist")
    source = _given(context, (found.get("spec") or {}).get("source") or {}, found["metadata"]["namespace"])
    # What is not there yet may come with another DataSource, too.
    return source._replace(of=asked) if source.missing else source


def lead(context: Context, data_source: Manifest | None) -> tuple[Manifest | None, tuple[str, str]]:
    """The DataSource that another one points to, itself if it does not; else None with a reason and a message."""
    pointer = (((data_source or {}).get("spec") or {}).get("source") or {}).get("dataSource")
    if data_source is None or pointer is None:
        return data_source, ("", "")
    own = data_source["metadata"]
    namespace, name = pointer.get("namespace") or own["namespace"], pointer.get("name")
    if namespace != own["namespace"]:
        return None, ("CrossNamespaceReference", "DataSource cannot reference a DataSource in another namespace")
    if name == own["name"]:
        return None, ("SelfReference", "DataSource cannot self-reference")
    found = context.caches["DataSource"].get((namespace, name))
    if found is None:
        return None, ("NotFound", f'datasources.cdi.kubevirt.io "{name}" not found')
    if ((found.get("spec") or {}).get("source") or {}).get("dataSource") is not None:
        return None, ("MaxReferenceDepthReached", "DataSource reference chain exceeds maximum depth of 1")
    return found, ("", "")


def _given(context: Context, source: Manifest, namespace: str) -> Source:
    kind = next((name for name, value in source.items() if value is not None), "")
    if kind not in ("pvc", "snapshot"):
        return Source(kind, missing="" if kind else "No source")
    namespace, name = source[kind].get("namespace") or namespace, source[kind]["name"]
    asked = (_CLAIM if kind == "pvc" else _SNAPSHOT, namespace, name)
    found = context.caches[asked[0]].get(asked[1:])
    if found is None:
        return Source(kind, asked, missing=f"The source {kind} {name} doesn't exist")
    labels, status = found["metadata"].get("labels") or {}, found.get("status") or {}
    if kind == "snapshot":
        return Source(kind, asked, labels, status.get("restoreSize"), ready=status.get("readyToUse") is not False)
    size = found["spec"]["resources"]["requests"]["storage"]
    filling = context.caches["DataVolume"].get((namespace, name))
    ready = filling is None or (filling.get("status") or {}).get("phase") == "Succeeded"
    return Source(kind, asked, labels, size, ready=ready)
