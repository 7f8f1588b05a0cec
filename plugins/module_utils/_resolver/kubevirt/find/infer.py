"""Instancetype and preference from the labels of a volume (KubeVirt ``pkg/instancetype/infer``).

A volume is a PVC or a DataVolume. If a DataVolume has no labels, its source counts: a PVC, a VolumeSnapshot, or a
DataSource, which may refer to one of these.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...api import release_schema
from ...api.errors import FieldError, Panic
from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, MATCHER_FIELDS, MatcherField
from ...api.release import NEWEST, Release
from . import revision_store as revision
from .lookup import PANIC, Lookup, Problem, not_found

REJECT: Final = "Reject"
IGNORE: Final = "Ignore"

# KubeVirt's names for the sources that it follows.
_SOURCE_TYPES: Final = {"pvc": "DataVolumeSourcePVC", "snapshot": "DataVolumeSourceSnapshot"}


class Matcher(NamedTuple):
    """A matcher from labels. kind: "" without the label, which means the cluster-wide kind."""

    name: str
    kind: str


class NotInferred(NamedTuple):
    """The reason why nothing could be inferred.

    ignorable: the volume has no labels (the failure policy Ignore accepts that); else an object is missing.
    unsupported: KubeVirt ignores the labels of such a volume.
    missing: kind, namespace and name of a required object that does not exist, or None.
    """

    problem: Problem
    ignorable: bool = False
    missing: tuple[str, str, str] | None = None
    unsupported: bool = False


def infer(vm: Manifest, lookup: Lookup, release: Release = NEWEST) -> Manifest | NotInferred:
    """The canonical VM after inference at admission; without `inferFromVolume` it only becomes canonical.

    vm: a plain manifest. lookup: of PVCs, DataVolumes, DataSources and VolumeSnapshots.
    """
    try:
        vm = release_schema.canonical("VirtualMachine", vm, release)
    except FieldError as error:
        return NotInferred(Problem(str(error), "BadRequest", 400))
    for matcher_field in MATCHER_FIELDS:
        try:
            failed = _infer_in_place(vm, matcher_field, lookup, release)
        except Panic as panic:
            return NotInferred(Problem(str(panic), PANIC))
        if failed is not None:
            return failed
    template = vm["spec"]["template"]
    if template is not None:
        template["spec"] = revision.as_written(template["spec"])
    return vm


def _infer_in_place(vm: Manifest, matcher_field: MatcherField, lookup: Lookup, release: Release) -> NotInferred | None:
    """Replaces the canonical VM's matcher if it is to be inferred."""
    matcher = matcher_field.matcher_of(vm)
    volume = (matcher or {}).get("inferFromVolume")
    if matcher is None or not volume:
        return None
    ignores = matcher.get("inferFromVolumeFailurePolicy") == IGNORE
    inferred = from_volume(vm, volume, matcher_field, lookup, release)
    if isinstance(inferred, NotInferred):
        if not (ignores and inferred.ignorable):
            return inferred
        del vm["spec"][matcher_field.matcher]
        return None
    if ignores and matcher_field is INSTANCETYPE:
        # The memory was for a volume without labels; now it would conflict.
        vm["spec"]["template"]["spec"]["domain"].pop("memory", None)
    vm["spec"][matcher_field.matcher] = {key: value for key, value in inferred._asdict().items() if value}
    return None


def from_volume(
    vm: Manifest, volume: str, matcher_field: MatcherField, lookup: Lookup, release: Release = NEWEST
) -> Matcher | NotInferred:
    """The matcher in the labels of a canonical VM's volume. Raises Panic for a VM without template."""
    template = vm["spec"]["template"]
    if template is None:
        raise Panic("the VirtualMachine has no template")
    tracer = _SourceTracer(matcher_field, lookup, vm["metadata"].get("namespace", ""), release)
    for entry in template["spec"].get("volumes", ()):
        if entry["name"] != volume:
            continue
        if "persistentVolumeClaim" in entry:
            return tracer.labelled("PersistentVolumeClaim", entry["persistentVolumeClaim"]["claimName"])
        if "dataVolume" in entry:
            return tracer.data_volume(entry["dataVolume"]["name"], vm["spec"].get("dataVolumeTemplates", ()))
        return _unsupported(f"unable to infer defaults from volume {volume} as type is not supported")
    return NotInferred(Problem(f"unable to find volume {volume} to infer defaults"))


class _SourceTracer:
    """Follows a volume to the object whose labels count."""

    def __init__(self, matcher_field: MatcherField, lookup: Lookup, namespace: str, release: Release) -> None:
        """namespace: the VM's."""
        self._matcher_field = matcher_field
        self._lookup = lookup
        self._namespace = namespace
        # Field of a source → the kind of its object.
        self._origins = [("pvc", "PersistentVolumeClaim")]
        if release.infers_from_snapshots:
            self._origins.append(("snapshot", "VolumeSnapshot"))

    def labelled(self, kind: str, name: str, namespace: str | None = None) -> Matcher | NotInferred:
        """The matcher from an object with labels. An empty namespace does not mean the VM's."""
        manifest = self._get(kind, name, namespace)
        return manifest if isinstance(manifest, NotInferred) else self._labels(manifest)

    def data_volume(self, name: str, templates: Any) -> Matcher | NotInferred:
        """The matcher from a template, which has priority over a DataVolume of that name.

        A template's own labels do not count.
        """
        for template in templates:
            if (template.get("metadata") or {}).get("name") == name:
                return self._data_volume_spec(template.get("spec") or {})
        manifest = self._get("DataVolume", name)
        if isinstance(manifest, NotInferred):
            # CDI may remove a DataVolume once it has filled the PVC of the same name.
            return self.labelled("PersistentVolumeClaim", name) if manifest.problem.reason == "NotFound" else manifest
        matcher = self._labels(manifest)
        return matcher if isinstance(matcher, Matcher) else self._data_volume_spec(manifest.get("spec") or {})

    def _data_volume_spec(self, spec: Manifest) -> Matcher | NotInferred:
        matcher = self._origin(spec.get("source") or {})
        if matcher is not None:
            return matcher
        reference = spec.get("sourceRef")
        if reference is None:
            return _unsupported("unable to infer defaults from DataVolumeSpec as DataVolumeSource is not supported")
        kind = reference.get("kind") or ""
        if kind != "DataSource":
            return _unsupported(f"unable to infer defaults from DataVolumeSourceRef as Kind {kind} is not supported")
        return self._data_source(reference.get("name") or "", reference.get("namespace"))

    def _data_source(self, name: str, namespace: str | None) -> Matcher | NotInferred:
        manifest = self._get("DataSource", name, namespace)
        if isinstance(manifest, NotInferred):
            return manifest
        matcher = self._labels(manifest)
        if isinstance(matcher, Matcher):
            return matcher
        source = (manifest.get("spec") or {}).get("source") or {}
        sources = " or ".join(_SOURCE_TYPES[field] for field, _kind in self._origins)
        return self._origin(source) or _ignorable(
            f"unable to infer defaults from DataSource that doesn't provide {sources}"
        )

    def _origin(self, source: Manifest) -> Matcher | NotInferred | None:
        """The matcher from the copied PVC or, without one, the snapshot; None for other sources."""
        for field, kind in self._origins:
            origin = source.get(field)
            if origin is not None:
                return self.labelled(kind, origin.get("name") or "", origin.get("namespace") or "")
        return None

    def _get(self, kind: str, name: str, namespace: str | None = None) -> Manifest | NotInferred:
        if namespace is None:
            namespace = self._namespace
        result = self._lookup.get(kind, namespace, name)
        if result is None:
            return NotInferred(not_found(kind, name), missing=(kind, namespace, name))
        return NotInferred(result) if isinstance(result, Problem) else result

    def _labels(self, manifest: Manifest) -> Matcher | NotInferred:
        labels = (manifest.get("metadata") or {}).get("labels") or {}
        label = self._matcher_field.volume_label
        if label not in labels:
            return _ignorable(f"unable to find required {label} label on the volume")
        return Matcher(labels[label], labels.get(self._matcher_field.volume_kind_label, ""))


def _ignorable(message: str) -> NotInferred:
    return NotInferred(Problem(message), ignorable=True)


def _unsupported(message: str) -> NotInferred:
    return NotInferred(Problem(message), ignorable=True, unsupported=True)
