"""The objects beside a VM: its claims, and what its guest does not start without.

Secrets are not looked for, because whoever may look for them may read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ..api.manifest import Manifest
from ..kubevirt.find.lookup import Lookup
from .object_keys import ObjectKey


def claim_names(vm: Manifest) -> list[str]:
    """The names of the PersistentVolumeClaims that a VM's volumes use, in order, without duplicates.

    A DataVolume's claim has the same name. `ephemeral` volumes only read their claim.
    """
    names: dict[str, None] = {}
    template = (vm.get("spec") or {}).get("template") or {}
    for volume in (template.get("spec") or {}).get("volumes") or []:
        for source in (volume, volume.get("ephemeral") or {}):
            name = (source.get("persistentVolumeClaim") or {}).get("claimName")
            if name:
                names[name] = None
        if (volume.get("dataVolume") or {}).get("name"):
            names[volume["dataVolume"]["name"]] = None
        if (volume.get("memoryDump") or {}).get("claimName"):
            names[volume["memoryDump"]["claimName"]] = None
    return list(names)


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


class Reference(NamedTuple):
    """A reference of a VM to another object.

    path: the field of the VM. kinds: one object of these kinds is enough. namespace: "" for a cluster-wide kind.
    """

    path: str
    kinds: tuple[str, ...]
    namespace: str
    name: str


def references(vm: Manifest) -> Iterator[Reference]:
    """The objects that a VM needs at its start and does not create itself, in the order of the VM's fields."""
    own = str(vm["metadata"].get("namespace") or "")
    spec = (vm["spec"].get("template") or {}).get("spec") or {}
    own_volumes = created_volumes(vm)
    for field, sources in _LISTS.items():
        for index, item in enumerate(spec.get(field) or ()):
            for path, kinds, name in _named_objects(item, sources):
                namespace, _slash, rest = name.rpartition("/") if field == "networks" else ("", "", name)
                if not (_CLAIM in kinds and name in own_volumes):
                    yield Reference(f"{_TEMPLATE}.{field}[{index}].{path}", kinds, namespace or own, rest)
    if spec.get("priorityClassName"):
        yield Reference(f"{_TEMPLATE}.priorityClassName", ("PriorityClass",), "", spec["priorityClassName"])


def created_volumes(vm: Manifest) -> set[str]:
    """The names of the DataVolumes, and of their claims, that KubeVirt creates for a VM."""
    templates = (vm.get("spec") or {}).get("dataVolumeTemplates") or []
    return {str((template.get("metadata") or {}).get("name")) for template in templates}


def keys_for_start(vm: Manifest) -> Iterator[ObjectKey]:
    """The objects that `missing_references` looks up."""
    namespace = str(vm["metadata"].get("namespace") or "")
    for reference in references(vm):
        for kind in reference.kinds:
            yield ObjectKey(kind, reference.namespace, reference.name, namespace)


def missing_references(vm: Manifest, objects: Lookup) -> Iterator[str]:
    """One line for each object that does not exist. What the user may not read counts as existing."""
    for reference in references(vm):
        if all(objects.get(kind, reference.namespace, reference.name) is None for kind in reference.kinds):
            place = f" in the namespace {reference.namespace}" if reference.namespace else ""
            yield f"{reference.path}: no {reference.kinds[0]} {reference.name}{place}; create it before the VM starts"


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
