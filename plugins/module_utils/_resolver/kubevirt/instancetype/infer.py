"""Instancetype and preference from the labels of a volume (KubeVirt ``pkg/instancetype/infer``).

A volume is a PVC or a DataVolume. If a DataVolume has no labels, its source counts: a PVC, a VolumeSnapshot, or a
DataSource, which may refer to one of these.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...api import behaviour
from ...api.errors import KubeVirtError
from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, MATCHER_FIELDS, MatcherField
from ...api.release import NEWEST, Release
from . import revision_store
from .find import canonical_vm, template_of
from .lookup import Lookup, not_found

REJECT: Final = "Reject"
IGNORE: Final = "Ignore"

# KubeVirt's names for the sources that it follows.
_SOURCE_TYPES: Final = {"pvc": "DataVolumeSourcePVC", "snapshot": "DataVolumeSourceSnapshot"}


class Matcher(NamedTuple):
    """A matcher from labels. kind: "" without the label, which means the cluster-wide kind."""

    name: str
    kind: str


class MissingLabels(KubeVirtError):
    """A volume has no labels to infer from (KubeVirt ``IgnoreableInferenceError``); the failure policy Ignore accepts
    that. unsupported: KubeVirt ignores the labels of such a volume.
    """

    def __init__(self, message: str, unsupported: bool = False) -> None:
        super().__init__(message)
        self.unsupported = unsupported


class MissingSource(KubeVirtError):
    """An object behind a volume does not exist. source: its kind, namespace and name."""

    def __init__(self, kind: str, namespace: str, name: str) -> None:
        error = not_found(kind, name)
        super().__init__(error.message, error.reason, error.code)
        self.source = kind, namespace, name


def infer(vm: Manifest, lookup: Lookup, release: Release = NEWEST) -> Manifest:
    """The canonical VM after inference at admission; without `inferFromVolume` it only becomes canonical.

    vm: a plain manifest. lookup: finds PVCs, DataVolumes, DataSources and VolumeSnapshots. Raises KubeVirtError.
    """
    vm = canonical_vm(vm, release)
    for matcher_field in MATCHER_FIELDS:
        _infer_in_place(vm, matcher_field, lookup, release)
    template = vm["spec"]["template"]
    if template is not None:
        template["spec"] = revision_store.as_written(template["spec"])
    return vm


def _infer_in_place(vm: Manifest, matcher_field: MatcherField, lookup: Lookup, release: Release) -> None:
    """Replaces the canonical VM's matcher if it is to be inferred."""
    matcher = matcher_field.matcher_of(vm)
    volume = (matcher or {}).get("inferFromVolume")
    if matcher is None or not volume:
        return
    ignores = matcher.get("inferFromVolumeFailurePolicy") == IGNORE
    try:
        inferred = from_volume(vm, volume, matcher_field, lookup, release)
    except MissingLabels:
        if not ignores:
            raise
        del vm["spec"][matcher_field.name]
        return
    if ignores and matcher_field is INSTANCETYPE:
        # The memory was for a volume without labels; now it would conflict.
        vm["spec"]["template"]["spec"]["domain"].pop("memory", None)
    vm["spec"][matcher_field.name] = {key: value for key, value in inferred._asdict().items() if value}


def from_volume(vm: Manifest, volume: str, matcher_field: MatcherField, lookup: Lookup, release: Release) -> Matcher:
    """The matcher in the labels of a canonical VM's volume. Raises KubeVirtError."""
    template = template_of(vm)
    tracer = _SourceTracer(matcher_field, lookup, vm["metadata"].get("namespace", ""), release)
    for entry in template["spec"].get("volumes", ()):
        if entry["name"] != volume:
            continue
        if "persistentVolumeClaim" in entry:
            return tracer.labelled("PersistentVolumeClaim", entry["persistentVolumeClaim"]["claimName"])
        if "dataVolume" in entry:
            return tracer.data_volume(entry["dataVolume"]["name"], vm["spec"].get("dataVolumeTemplates", ()))
        message = f"unable to infer defaults from volume {volume} as type is not supported"
        raise MissingLabels(message, unsupported=True)
    raise KubeVirtError(f"unable to find volume {volume} to infer defaults")


class _SourceTracer:
    """Follows a volume to the object whose labels count. All methods raise KubeVirtError."""

    def __init__(self, matcher_field: MatcherField, lookup: Lookup, namespace: str, release: Release) -> None:
        """Follows the volumes of a VM. namespace: of the VM."""
        self._matcher_field = matcher_field
        self._lookup = lookup
        self._namespace = namespace
        # Field of a source → the kind of its object.
        self._origins = [("pvc", "PersistentVolumeClaim")]
        if release.has(behaviour.INFERS_FROM_SNAPSHOTS):
            self._origins.append(("snapshot", "VolumeSnapshot"))

    def labelled(self, kind: str, name: str, namespace: str | None = None) -> Matcher:
        """The matcher from an object with labels. An empty namespace does not mean the VM's."""
        manifest = self._get(kind, name, namespace)
        matcher = self._labels(manifest)
        if matcher is None:
            label = self._matcher_field.volume_label
            raise MissingLabels(f"unable to find required {label} label on the volume")
        return matcher

    def data_volume(self, name: str, templates: Any) -> Matcher:
        """The matcher from a template, which has priority over a DataVolume of that name.

        A template's own labels do not count.
        """
        for template in templates:
            if (template.get("metadata") or {}).get("name") == name:
                return self._data_volume_spec(template.get("spec") or {})
        try:
            manifest = self._get("DataVolume", name)
        except MissingSource:
            # CDI may remove a DataVolume once it has filled the PVC of the same name.
            return self.labelled("PersistentVolumeClaim", name)
        return self._labels(manifest) or self._data_volume_spec(manifest.get("spec") or {})

    def _data_volume_spec(self, spec: Manifest) -> Matcher:
        matcher = self._origin(spec.get("source") or {})
        if matcher is not None:
            return matcher
        reference = spec.get("sourceRef")
        if reference is None:
            message = "unable to infer defaults from DataVolumeSpec as DataVolumeSource is not supported"
            raise MissingLabels(message, unsupported=True)
        kind = reference.get("kind") or ""
        if kind != "DataSource":
            message = f"unable to infer defaults from DataVolumeSourceRef as Kind {kind} is not supported"
            raise MissingLabels(message, unsupported=True)
        return self._data_source(reference.get("name") or "", reference.get("namespace"))

    def _data_source(self, name: str, namespace: str | None) -> Matcher:
        manifest = self._get("DataSource", name, namespace)
        source = (manifest.get("spec") or {}).get("source") or {}
        matcher = self._labels(manifest) or self._origin(source)
        if matcher is None:
            sources = " or ".join(_SOURCE_TYPES[field] for field, _kind in self._origins)
            raise MissingLabels(f"unable to infer defaults from DataSource that doesn't provide {sources}")
        return matcher

    def _origin(self, source: Manifest) -> Matcher | None:
        """The matcher from the copied PVC or, without one, the snapshot; None for other sources."""
        for field, kind in self._origins:
            origin = source.get(field)
            if origin is not None:
                return self.labelled(kind, origin.get("name") or "", origin.get("namespace") or "")
        return None

    def _get(self, kind: str, name: str, namespace: str | None = None) -> Manifest:
        if namespace is None:
            namespace = self._namespace
        manifest = self._lookup.get(kind, namespace, name)
        if manifest is None:
            raise MissingSource(kind, namespace, name)
        return manifest

    def _labels(self, manifest: Manifest) -> Matcher | None:
        """The matcher in the labels of an object; None if it has none."""
        labels = (manifest.get("metadata") or {}).get("labels") or {}
        label = self._matcher_field.volume_label
        if label not in labels:
            return None
        return Matcher(labels[label], labels.get(self._matcher_field.volume_kind_label, ""))
