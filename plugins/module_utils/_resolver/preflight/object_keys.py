"""The keys of the objects that a judgement of a VM looks up, so that they can be read at once before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ..api.errors import FieldError
from ..api.kinds import KINDS
from ..api.manifest import Manifest, data_volume_of, labels_of, namespace_of, template_specs, volume_of
from ..api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, ObjectKey
from ..api.release import NEWEST, Release
from ..kubevirt.instancetype import revision_names

if TYPE_CHECKING:
    from ..guest.effect import MaybeVMI

_SOURCE_KINDS = {"pvc": "PersistentVolumeClaim", "snapshot": "VolumeSnapshot", "dataSource": "DataSource"}


class ObjectToRead(NamedTuple):
    """An object to look up for a VM.

    vm_namespace: the namespace of the VM. fallback: the object that counts if a captured revision belongs to an object
    of another name.
    """

    key: ObjectKey
    vm_namespace: str
    fallback: ObjectKey | None = None


def keys_for_admission(vm: Manifest, release: Release) -> list[ObjectToRead]:
    """The objects that admission of a VM looks up first: its references, and the sources of its disks.

    vm: a plain manifest. There are none for a VM that does not match the schema, because it is rejected anyway.
    """
    # The DataSources of its disks name their architecture.
    return _readable(
        lambda: chain(
            _references(vm, release),
            *(_sources({"sourceRef": spec.get("sourceRef")}, namespace_of(vm)) for spec in template_specs(vm).values()),
        )
    )


def keys_for_expansion(vm: Manifest, release: Release) -> list[ObjectToRead]:
    """The objects that the expansion of a VM looks up first: instancetype, preference, their revisions, and volumes to
    infer from.
    """
    return _readable(lambda: _references(vm, release))


def keys_for_guest(vm: Manifest, vmi: MaybeVMI, release: Release) -> list[ObjectToRead]:
    """The objects to look up to judge a VM's guest: its references, and the revision of the guest's start.

    vmi: its VMI, see `guest.effect`.
    """
    status = vmi.get("status") or {} if isinstance(vmi, dict) else {}
    name = status.get("virtualMachineRevisionName")
    started = (
        [ObjectToRead(ObjectKey("ControllerRevision", namespace_of(vm), str(name)), namespace_of(vm))] if name else []
    )
    return [*keys_for_expansion(vm, release), *started]


def further_keys(needed: ObjectToRead, manifest: Manifest | None) -> list[ObjectToRead]:
    """The objects to look up after an object, if it is a source of inference. manifest: None if it does not exist."""
    if needed.key.kind in MATCHER_FIELD_OF_KIND:
        return []
    return _readable(lambda: _further_keys(needed, manifest))


def _readable(keys: Callable[[], Iterable[ObjectToRead]]) -> list[ObjectToRead]:
    """The keys, none of a manifest that does not match the schema."""
    try:
        return list(keys())
    except (AttributeError, FieldError, KeyError, TypeError):
        return []


def _references(vm: Manifest, release: Release) -> Iterator[ObjectToRead]:
    vm_namespace = namespace_of(vm)
    for matcher_field in MATCHER_FIELDS:
        matcher = matcher_field.matcher_of(vm)
        if not matcher:
            continue
        if matcher.get("inferFromVolume"):
            yield from _volume(vm, str(matcher["inferFromVolume"]), vm_namespace)
            continue
        live = list(_object(str(matcher.get("name") or ""), matcher_field.kind_of(matcher), vm_namespace))
        reference = revision_names.referenced_revision(vm, matcher_field, release)
        if reference.name:
            fallback = live[0].key if live and not reference.pinned else None
            yield ObjectToRead(ObjectKey("ControllerRevision", vm_namespace, reference.name), vm_namespace, fallback)
        else:
            yield from live


def _volume(vm: Manifest, name: str, vm_namespace: str) -> Iterator[ObjectToRead]:
    volume = volume_of(vm, name)
    claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
    if claim:
        yield ObjectToRead(ObjectKey("PersistentVolumeClaim", vm_namespace, str(claim)), vm_namespace)
        return
    data_volume, templates = data_volume_of(volume), template_specs(vm)
    if data_volume in templates:
        yield from _sources(templates[data_volume], vm_namespace)
    elif data_volume:
        yield ObjectToRead(ObjectKey("DataVolume", vm_namespace, data_volume), vm_namespace)


def _sources(spec: Manifest, vm_namespace: str) -> Iterator[ObjectToRead]:
    """The objects to which a DataVolume's spec refers."""
    yield from _origins(spec.get("source") or {}, vm_namespace)
    reference = spec.get("sourceRef") or {}
    if str(reference.get("kind") or "").lower() == "datasource" and reference.get("name"):
        namespace = reference.get("namespace")
        place = vm_namespace if namespace is None else str(namespace)
        yield ObjectToRead(ObjectKey("DataSource", place, str(reference["name"])), vm_namespace)


def _origins(source: Manifest, vm_namespace: str) -> Iterator[ObjectToRead]:
    for field, kind in _SOURCE_KINDS.items():
        origin = source.get(field)
        if origin and origin.get("name"):
            key = ObjectKey(kind, str(origin.get("namespace") or ""), str(origin["name"]))
            yield ObjectToRead(key, vm_namespace)


def _further_keys(needed: ObjectToRead, manifest: Manifest | None) -> Iterator[ObjectToRead]:
    key, vm_namespace, fallback = needed
    if key.kind == "ControllerRevision":
        if manifest is not None and fallback and labels_of(manifest).get(revision_names.NAME_LABEL) != fallback.name:
            yield ObjectToRead(fallback, vm_namespace)
        elif manifest is not None and key.name.startswith(revision_names.START):
            # The revision contains the VM's spec at that time, with the revisions of that time.
            yield from _references({"metadata": {"namespace": vm_namespace}, "spec": manifest["data"]["spec"]}, NEWEST)
        return
    if manifest is None:
        if key.kind == "DataVolume":
            yield needed._replace(key=key._replace(kind="PersistentVolumeClaim"))
        return
    labels = labels_of(manifest)
    for matcher_field in MATCHER_FIELDS:
        name = labels.get(matcher_field.volume_label)
        if name:
            kind = matcher_field.kind_of({"kind": labels.get(matcher_field.volume_kind_label, "")})
            yield from _object(str(name), kind, vm_namespace)
    spec = manifest.get("spec") or {}
    if key.kind == "DataVolume":
        yield from _sources(spec, key.namespace)
    elif key.kind == "DataSource":
        yield from _origins(spec.get("source") or {}, vm_namespace)


def _object(name: str, kind: str | None, vm_namespace: str) -> Iterator[ObjectToRead]:
    if kind is not None and name:
        yield ObjectToRead(ObjectKey(kind, vm_namespace if KINDS[kind].namespaced else "", name), vm_namespace)
