"""The other objects of a VM: its claims, the sources of its disks, and all without which its guest does not start.

Secrets are not looked for, because whoever may look for them may read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from ..api.manifest import Manifest, claim_of, name_of, namespace_of
from ..api.matcher import ObjectKey
from ..api.name_rules import join_or
from ..api.tree import value_at
from ..kubevirt.instancetype.lookup import Lookup, is_missing
from .object_keys import ObjectToRead

if TYPE_CHECKING:
    from ..choose.suggestions import Lister


def claim_names(vm: Manifest) -> list[str]:
    """The names of the PersistentVolumeClaims that a VM's volumes use, in order, without duplicates.

    `ephemeral` volumes only read their claim.
    """
    template = (vm.get("spec") or {}).get("template") or {}
    volumes = (template.get("spec") or {}).get("volumes") or []
    names = (claim_of(source) for volume in volumes for source in (volume, volume.get("ephemeral") or {}))
    return list(dict.fromkeys(filter(None, names)))


def sole_owner(manifest: Manifest) -> str:
    """The UID of an object's only owner, after which the garbage collector deletes the object; "" if there is none.

    An object with several owners exists until the last of them is gone.
    """
    owners = manifest["metadata"].get("ownerReferences") or []
    return str(owners[0].get("uid", "")) if len(owners) == 1 else ""


_Sources = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]

_TEMPLATE: Final = "spec.template.spec"
_CLAIM: Final = "PersistentVolumeClaim"
# A source of volumes or networks → where it has an object's name, and the object's kinds. CDI may delete a DataVolume
# and leave its claim.
_VOLUMES: Final[_Sources] = {
    "persistentVolumeClaim": (("claimName",), (_CLAIM,)),
    "ephemeral": (("persistentVolumeClaim", "claimName"), (_CLAIM,)),
    "dataVolume": (("name",), ("DataVolume", _CLAIM)),
    "configMap": (("name",), ("ConfigMap",)),
    "serviceAccount": (("serviceAccountName",), ("ServiceAccount",)),
    "sysprep": (("configMap", "name"), ("ConfigMap",)),
}
_NETWORKS: Final[_Sources] = {"multus": (("networkName",), ("NetworkAttachmentDefinition",))}
_LISTS: Final = {"volumes": _VOLUMES, "networks": _NETWORKS}
_SECRET: Final = ("Secret",)
_CLOUD_INIT: Final = ("secretRef", "networkDataSecretRef")
_SECRETS: Final[tuple[tuple[str, ...], ...]] = (
    ("secret", "secretName"),
    ("sysprep", "secret", "name"),
    ("containerDisk", "imagePullSecret"),
    *((source, part, "name") for source in ("cloudInitNoCloud", "cloudInitConfigDrive") for part in _CLOUD_INIT),
)


class ObjectReference(NamedTuple):
    """A reference of a VM to another object.

    path: the field of the VM. kinds: one object of these kinds is enough. namespace: "" for a cluster-wide kind.
    """

    path: str
    kinds: tuple[str, ...]
    namespace: str
    name: str


def references(vm: Manifest, live: Manifest | None = None) -> Iterator[ObjectReference]:
    """The objects that a VM needs at its start and does not create itself.

    live: the live VM; what only its existing DataVolumes needed may be gone.
    """
    own = namespace_of(vm)
    spec = (vm["spec"].get("template") or {}).get("spec") or {}
    own_volumes = created_volumes(vm)
    for field, sources in _LISTS.items():
        for index, item in enumerate(spec.get(field) or ()):
            for path, kinds, name in _named_objects(item, sources):
                namespace, _slash, rest = name.rpartition("/") if field == "networks" else ("", "", name)
                if not (_CLAIM in kinds and name in own_volumes):
                    yield ObjectReference(f"{_TEMPLATE}.{field}[{index}].{path}", kinds, namespace or own, rest)
    if spec.get("priorityClassName"):
        yield ObjectReference(f"{_TEMPLATE}.priorityClassName", ("PriorityClass",), "", spec["priorityClassName"])
    existing = created_volumes(live or {})
    for index, template in enumerate(templates_of(vm)):
        field, name = storage_class_of(template)
        if name and name_of(template) not in existing:
            path = f"spec.dataVolumeTemplates[{index}].spec.{field}.storageClassName"
            yield ObjectReference(path, ("StorageClass",), "", name)


def secrets(vm: Manifest) -> Iterator[ObjectReference]:
    """The Secrets that a VM needs at its start, for callers that look for them in files."""
    own = namespace_of(vm)
    spec = (vm["spec"].get("template") or {}).get("spec") or {}
    for index, volume in enumerate(spec.get("volumes") or ()):
        for path in _SECRETS:
            name = value_at(volume, path)
            if name and not (volume[path[0]] or {}).get("optional"):
                yield ObjectReference(f"{_TEMPLATE}.volumes[{index}].{'.'.join(path)}", _SECRET, own, str(name))
    for index, credential in enumerate(spec.get("accessCredentials") or ()):
        for method in credential:
            name = value_at(credential, (method, "source", "secret", "secretName"))
            if name:
                field = f"{_TEMPLATE}.accessCredentials[{index}].{method}.source.secret.secretName"
                yield ObjectReference(field, _SECRET, own, str(name))
    for index, template in enumerate(templates_of(vm)):
        for source, options in ((template.get("spec") or {}).get("source") or {}).items():
            if (options or {}).get("secretRef"):
                field = f"spec.dataVolumeTemplates[{index}].spec.source.{source}.secretRef"
                yield ObjectReference(field, _SECRET, own, str(options["secretRef"]))


def created_volumes(vm: Manifest) -> set[str]:
    """The names of the DataVolumes, and of their claims, that KubeVirt creates for a VM."""
    return {name_of(template) for template in templates_of(vm)}


def keys_for_start(vm: Manifest, live: Manifest | None = None) -> list[ObjectToRead]:
    """The objects that `missing_references` and `missing_sources` look up. live: see `new_sources`.

    There are none for a VM that does not match the schema, because it is rejected anyway.
    """
    namespace = namespace_of(vm)
    try:
        return [
            ObjectToRead(ObjectKey(kind, reference.namespace, reference.name), namespace)
            for reference in (*(source.reference for source in new_sources(vm, live)), *references(vm, live))
            for kind in reference.kinds
        ]
    except (AttributeError, KeyError, TypeError):
        return []


def missing_references(
    vm: Manifest, objects: Lookup, live: Manifest | None = None, lister: Lister = lambda _kind, _namespace: []
) -> Iterator[str]:
    """One line for each object that does not exist. An object that the user may not read counts as existing.

    live: see `references`. lister: lists objects for suggestions.
    """
    return _missing(references(vm, live), objects, lister, "create it before the VM starts")


def missing_sources(vm: Manifest, live: Manifest | None, objects: Lookup, lister: Lister) -> Iterator[str]:
    """One line for each source that does not exist: its import would never end.

    live: the live VM; the sources of its existing DataVolumes may be gone. Sources that the user may not read count as
    existing, because KubeVirt itself checks the permission to clone.
    """
    sources = (source.reference for source in new_sources(vm, live))
    return _missing(sources, objects, lister, "create the object first, or name an existing object")


def _missing(needed: Iterable[ObjectReference], objects: Lookup, lister: Lister, remedy: str) -> Iterator[str]:
    """A line for each object that is needed and does not exist.

    remedy: what to do if no existing object has a similar name.
    """
    for path, kinds, namespace, name in needed:
        if all(is_missing(objects, kind, namespace, name) for kind in kinds):
            # Only what is missing needs it.
            from ..choose.suggestions import resembling

            close = resembling(name, map(name_of, lister(kinds[0], namespace)))
            place = f" in the namespace {namespace}" if namespace else ""
            hint = f"did you mean {join_or(close)}?" if close else remedy
            yield f"{path}: no {kinds[0]} {name}{place}; {hint}"


def _named_objects(item: Manifest, sources: _Sources) -> Iterator[tuple[str, tuple[str, ...], str]]:
    for source in item:
        if source not in sources:
            continue
        (*parents, last), kinds = sources[source]
        holder = item[source] or {}
        for parent in parents:
            holder = holder.get(parent) or {}
        if holder.get(last) and not holder.get("optional"):
            yield ".".join((source, *parents, last)), kinds, str(holder[last])


class DiskSource(NamedTuple):
    """A source of a disk.

    path: the position of the source's name in the VM. kind, namespace, name: the object to copy.
    """

    path: str
    kind: str
    namespace: str
    name: str

    @property
    def reference(self) -> ObjectReference:
        return ObjectReference(self.path, (self.kind,), self.namespace, self.name)


# Fields of a DataVolume's source → the kind of the object.
_KINDS = {"pvc": "PersistentVolumeClaim", "snapshot": "VolumeSnapshot"}


def templates_of(vm: Manifest) -> list[Manifest]:
    """The templates of a VM's DataVolumes."""
    return (vm.get("spec") or {}).get("dataVolumeTemplates") or []


def storage_class_of(template: Manifest) -> tuple[str, str]:
    """The field of a DataVolume that describes its claim, and the StorageClass that it names; "" for none."""
    spec = template.get("spec") or {}
    field = "pvc" if spec.get("pvc") else "storage"
    return field, str((spec.get(field) or {}).get("storageClassName") or "")


def requested_size(template: Manifest) -> str:
    """The size that a DataVolume or a claim requests; "" for none."""
    spec = template.get("spec") or {}
    resources = (spec.get("storage") or spec.get("pvc") or spec).get("resources") or {}
    return str((resources.get("requests") or {}).get("storage") or "")


def new_sources(vm: Manifest, live: Manifest | None) -> Iterator[DiskSource]:
    """The sources of the disks that KubeVirt creates for a VM, without disks that the live VM has already."""
    own, existing = namespace_of(vm), created_volumes(live or {})
    for index, template in enumerate(templates_of(vm)):
        if name_of(template) in existing:
            continue
        spec, path = template.get("spec") or {}, f"spec.dataVolumeTemplates[{index}].spec"
        reference = spec.get("sourceRef") or {}
        if reference.get("kind") == "DataSource" and reference.get("name"):
            namespace = reference.get("namespace") or own
            yield DiskSource(f"{path}.sourceRef.name", "DataSource", namespace, reference["name"])
        for field, kind in _KINDS.items():
            source = (spec.get("source") or {}).get(field) or {}
            if source.get("name"):
                yield DiskSource(f"{path}.source.{field}.name", kind, source.get("namespace") or own, source["name"])
