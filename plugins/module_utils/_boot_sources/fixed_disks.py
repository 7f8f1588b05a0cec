"""Disks of a VM that are otherwise than declared, judged by their DataVolumes and claims. For sizes see `disk_sizes`.

KubeVirt creates a DataVolume once, and CDI its claim: another source, class or mode in the template is without effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from .._resolver.api.keys import BOOT_SOURCE_LABEL
from .._resolver.api.managed_fields import written_at
from .._resolver.api.manifest import Manifest, annotations_of, created_at, labels_of, metadata_of, name_of, namespace_of
from .._resolver.api.matcher import ObjectKey
from .._resolver.api.tree import shown_differences
from .._resolver.kubevirt.instancetype.lookup import Lookup, get_readable
from .._resolver.preflight.object_keys import ObjectToRead
from .._resolver.preflight.references import requested_size, templates_of
from .._resolver.secrets.redaction import redact
from .disk_sizes import bytes_of, is_unbound
from .source import CRON, target_of

_VOLUME: Final = "DataVolume"
_CLAIM: Final = "PersistentVolumeClaim"
_SOURCE: Final = "DataSource"
# Sources that are copied → the kind of the object.
_CLONES: Final = {"pvc": _CLAIM, "snapshot": "VolumeSnapshot"}
# A claim has these also where the template leaves them out, because CDI fills them in.
_STORAGE: Final = ("storageClassName", "accessModes", "volumeMode")
_DEFAULTS: Final = {"contentType": "kubevirt", "preallocation": False}
# CDI notes the source in some claims, whose DataVolume it may have deleted.
_IMPORTED: Final = "cdi.kubevirt.io/storage.import."
_CLONED: Final = "k8s.io/CloneRequest"


class FixedDisk(NamedTuple):
    """An existing disk that differs from its declaration.

    path: where the VM declares the disk. name: the disk. changes: [{field, before, after}]; before: the disk's value,
    after: the declared one. is_unfilled: whether nothing is on the disk.
    """

    path: str
    name: str
    changes: tuple[dict[str, Any], ...]
    is_unfilled: bool = False

    @property
    def line(self) -> str:
        parts = (
            f"{change['field']} {_shown(change['before'])} and not the declared {_shown(change['after'])}"
            for change in self.changes
        )
        return (
            f"{self.path}: the disk {self.name} has {', '.join(parts)}, because KubeVirt creates it only once; declare"
            f" what it has, or a volume with another name, which is a new disk{self._other_way}"
        )

    @property
    def _other_way(self) -> str:
        if self.is_unfilled:
            unfilled = f"the DataVolume {self.name}, which is not filled"
            return f"; or delete {unfilled}, after this change, and KubeVirt makes it anew"
        moves = any(change["field"] in _STORAGE for change in self.changes)
        return " (KubeVirt copies the data to a blank one with spec.updateVolumesStrategy: Migration)" if moves else ""


class _Source(NamedTuple):
    """A source of a disk: the field of the DataVolume's source, or `DataSource`, with its fields.

    complete: whether these are all its fields.
    """

    kind: str
    fields: Manifest
    complete: bool = True

    @property
    def key(self) -> ObjectKey:
        """The object that is copied."""
        kind = _CLONES.get(self.kind, self.kind)
        return ObjectKey(kind, str(self.fields["namespace"]), str(self.fields["name"]))

    @property
    def text(self) -> str:
        """`registry docker://quay.io/os:1`, `PersistentVolumeClaim images/os`, `blank`."""
        if self.fields.get("name"):
            return f"{self.key.kind} {self.key.label}"
        fields = redact(self.fields, self.fields)[1]
        address = fields.get("url") or fields.get("imageStream") or ""
        return f"{self.kind} {address}".rstrip()


def keys_for_disks(vm: Manifest) -> Iterator[ObjectToRead]:
    """The objects that `fixed_disks` looks up; further ones only for a disk that was cloned from a DataSource."""
    namespace = namespace_of(vm)
    for template in templates_of(vm):
        for kind in (_VOLUME, _CLAIM):
            yield ObjectToRead(ObjectKey(kind, namespace, name_of(template)), namespace)


def fixed_disks(vm: Manifest, objects: Lookup) -> Iterator[FixedDisk]:
    """The disks that exist and are otherwise than the VM declares. A value that CDI has filled in is no difference."""
    namespace = namespace_of(vm)
    for index, template in enumerate(templates_of(vm)):
        volume, claim = (get_readable(objects, kind, namespace, name_of(template)) for kind in (_VOLUME, _CLAIM))
        if volume is None and claim is None:
            continue
        pairs = {
            **_source_pair(template, volume, claim, namespace, objects),
            **_storage_pairs(template, volume, claim),
            **(_size_pair(template, volume) if volume is not None and _is_unfilled(volume, claim) else {}),
            **(_other_pairs(template, volume) if volume is not None else {}),
        }
        has, declared = ({field: pair[side] for field, pair in pairs.items()} for side in (0, 1))
        if changes := shown_differences(has, declared):
            yield FixedDisk(
                f"spec.dataVolumeTemplates[{index}]", name_of(template), tuple(changes), _is_unfilled(volume, claim)
            )


def _is_unfilled(volume: Manifest | None, claim: Manifest | None) -> bool:
    """Whether a DataVolume has no claim, or one without storage, so nothing is lost with it."""
    if volume is None:
        return False
    return is_unbound(claim) if claim is not None else not (volume.get("status") or {}).get("claimName")


_Pairs = dict[str, tuple[Any, Any]]
"""Field → (the disk's value, the declared value)."""


def _storage_pairs(template: Manifest, volume: Manifest | None, claim: Manifest | None) -> _Pairs:
    created, bound = _storage_of(volume or {}), (claim or {}).get("spec")
    pairs: _Pairs = {}
    for field, value in _storage_of(template).items():
        has = (bound if field in _STORAGE and bound is not None else created).get(field)
        # Before there is a claim, CDI has not decided what the template left out.
        undecided = (bound is None and has is None) or (volume is None and field not in _STORAGE)
        same_modes = field == "accessModes" and sorted(has or ()) == sorted(value)
        if not (field == "resources" or undecided or same_modes):
            pairs[field] = (has, value)
    return pairs


def _size_pair(template: Manifest, volume: Manifest) -> _Pairs:
    """A claim without storage cannot grow. It may request more than its DataVolume, because CDI adds overhead."""
    has, declared = requested_size(volume), requested_size(template)
    return {"size": (has, declared)} if has and bytes_of(declared) > bytes_of(has) else {}


def _storage_of(data_volume: Manifest) -> Manifest:
    spec = data_volume.get("spec") or {}
    return spec.get("storage") or spec.get("pvc") or {}


def _other_pairs(template: Manifest, volume: Manifest) -> _Pairs:
    created = volume.get("spec") or {}
    pairs: _Pairs = {
        field: (created.get(field, _DEFAULTS.get(field)), value)
        for field, value in template["spec"].items()
        if field not in ("source", "sourceRef", "storage", "pvc")
    }
    for part in ("labels", "annotations"):
        declared, has = (metadata_of(item).get(part) or {} for item in (template, volume))
        pairs[part] = ({key: has.get(key) for key in declared}, declared)
    return pairs


def _source_pair(
    template: Manifest, volume: Manifest | None, claim: Manifest | None, namespace: str, objects: Lookup
) -> _Pairs:
    declared = _source_of(template, namespace)
    has = _source_of_claim(claim or {}) if volume is None else _source_of(volume, namespace)
    if declared is None or has is None or _is_same(has, declared, volume or claim or {}, objects):
        return {}
    if has.text != declared.text:
        return {"source": (has.text, declared.text)}
    # The same image, by another Secret for example.
    return {"source": ({field: has.fields.get(field) for field in declared.fields}, declared.fields)}


def _source_of(data_volume: Manifest, namespace: str) -> _Source | None:
    """The source of a DataVolume or a template; None if there is none, because something else fills the disk."""
    spec = data_volume.get("spec") or {}
    if spec.get("sourceRef"):
        fields = {**spec["sourceRef"]}
        return _Source(str(fields.pop("kind")), {**fields, "namespace": fields.get("namespace") or namespace})
    for kind, fields in (spec.get("source") or {}).items():
        own = {"namespace": fields.get("namespace") or namespace} if kind in _CLONES else {}
        return _Source(kind, {**fields, **own})
    return None


def _source_of_claim(claim: Manifest) -> _Source | None:
    """The source in the annotations of a claim without a DataVolume; None if they name none."""
    annotations = annotations_of(claim)
    if url := annotations.get(f"{_IMPORTED}endpoint"):
        return _Source(str(annotations.get(f"{_IMPORTED}source") or "http"), {"url": url}, complete=False)
    namespace, _slash, name = str(annotations.get(_CLONED) or "").partition("/")
    return _Source("pvc", {"namespace": namespace, "name": name}, complete=False) if name else None


def _is_same(has: _Source, declared: _Source, disk: Manifest, objects: Lookup) -> bool:
    """Whether a disk may have been made from the declared source. KubeVirt notes of a DataSource only its target."""
    if declared.kind == _SOURCE and has.kind in _CLONES:
        return _may_have_given(declared.key, has.key, disk, objects)
    fields = declared.fields if has.complete else declared.fields.keys() & has.fields.keys()
    return has.kind == declared.kind and all(has.fields.get(field) == declared.fields[field] for field in fields)


def _may_have_given(source: ObjectKey, origin: ObjectKey, disk: Manifest, objects: Lookup) -> bool:
    """Whether a DataSource may have had this target when a disk was created from it: it may have a newer image now."""
    data_source = get_readable(objects, *source)
    target = target_of(data_source or {})
    if data_source is None or target is None or target == origin or target.kind == _SOURCE:
        return True
    then, now = (_line_of(get_readable(objects, *key)) for key in (origin, target))
    if now:
        return then in ("", now)
    # Without a mark on its image, the time decides.
    created, disk_created = map(created_at, (data_source, disk))
    changed = written_at(data_source, "spec")
    return not changed or created <= disk_created < changed


def _line_of(image: Manifest | None) -> str:
    """The boot source or the DataImportCron that an image is of, with its namespace; "" if unknown."""
    labels = labels_of(image or {})
    line = labels.get(BOOT_SOURCE_LABEL) or labels.get(CRON)
    return f"{namespace_of(image or {})}/{line}" if line else ""


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    return "nothing" if value is None else str(value)
