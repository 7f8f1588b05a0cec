"""The objects beside a VM without which its guest does not start: claims, networks and others.

Secrets are not looked for, because whoever may look for them may read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ..instancetype.find.lookup import Lookup

Manifest = dict[str, Any]
_Fields = dict[str, tuple[str, ...]]

EXISTING: Final = frozenset({"ConfigMap", "ServiceAccount", "NetworkAttachmentDefinition", "PriorityClass"})
"""The kinds whose contents do not matter here, only whether the objects exist."""

_TEMPLATE: Final = "spec.template.spec"
_CLAIM: Final = "PersistentVolumeClaim"
# A DataVolume that CDI has garbage-collected leaves its claim.
_DATA: Final = ("DataVolume", _CLAIM)
# The fields of a volume that name an object, and the object's kind.
_VOLUME: Final[_Fields] = {
    "persistentVolumeClaim.claimName": (_CLAIM,),
    "ephemeral.persistentVolumeClaim.claimName": (_CLAIM,),
    "dataVolume.name": _DATA,
    "configMap.name": ("ConfigMap",),
    "serviceAccount.serviceAccountName": ("ServiceAccount",),
    "sysprep.configMap.name": ("ConfigMap",),
}
_NETWORK: Final[_Fields] = {"multus.networkName": ("NetworkAttachmentDefinition",)}
_LISTS: Final = {"volumes": _VOLUME, "networks": _NETWORK}


class Reference(NamedTuple):
    """path: the field of the VM. kinds: one object of these kinds is enough. namespace: "" for a cluster-wide kind."""

    path: str
    kinds: tuple[str, ...]
    namespace: str
    name: str


def references(vm: Manifest) -> Iterator[Reference]:
    """The objects that a VM needs at its start and does not create itself, in the order of the VM's fields."""
    own = str(vm["metadata"].get("namespace") or "")
    spec = (vm["spec"].get("template") or {}).get("spec") or {}
    created = {(one.get("metadata") or {}).get("name") for one in vm["spec"].get("dataVolumeTemplates") or ()}
    for field, named in _LISTS.items():
        for index, entry in enumerate(spec.get(field) or ()):
            for path, kinds, name in _named(entry, named):
                namespace, _slash, rest = name.rpartition("/") if field == "networks" else ("", "", name)
                if not (_CLAIM in kinds and name in created):
                    yield Reference(f"{_TEMPLATE}.{field}[{index}].{path}", kinds, namespace or own, rest)
    if spec.get("priorityClassName"):
        yield Reference(f"{_TEMPLATE}.priorityClassName", ("PriorityClass",), "", spec["priorityClassName"])


def absent(vm: Manifest, objects: Lookup) -> Iterator[str]:
    """One line for each object that does not exist. What the user may not read counts as existing."""
    for reference in references(vm):
        if all(objects.get(kind, reference.namespace, reference.name) is None for kind in reference.kinds):
            place = f" in the namespace {reference.namespace}" if reference.namespace else ""
            yield f"{reference.path}: no {reference.kinds[0]} {reference.name}{place}; create it before the VM starts"


def _named(entry: Manifest, fields: _Fields) -> Iterable[tuple[str, tuple[str, ...], str]]:
    for path, kinds in fields.items():
        holder: Any = entry
        *parents, last = path.split(".")
        for parent in parents:
            holder = holder.get(parent) or {}
        if holder.get(last) and not holder.get("optional"):
            yield path, kinds, str(holder[last])
