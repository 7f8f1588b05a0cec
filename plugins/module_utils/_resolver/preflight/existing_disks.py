"""Disks that exist before the VM that is to make them: KubeVirt uses what has the name, whosever it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..api.finding import Finding
from ..api.manifest import Manifest, name_of, namespace_of
from ..api.matcher import ObjectKey
from ..kubevirt.instancetype.lookup import Lookup, get_readable
from .object_keys import ObjectToRead
from .references import created_volumes, templates_of

_CLAIM: Final = "PersistentVolumeClaim"
_DATA_VOLUME: Final = "DataVolume"
_VM: Final = "VirtualMachine"
# A kind → the options that use an existing disk as it is.
_OPTIONS: Final = {_DATA_VOLUME: "data_volume", _CLAIM: "persistent_volume_claim or boot.pvc"}


def keys_for_disks(vm: Manifest, live: Manifest | None) -> Iterator[ObjectToRead]:
    """The objects that `existing_disks` looks up."""
    namespace = namespace_of(vm)
    return (
        ObjectToRead(ObjectKey(kind, namespace, name), namespace)
        for _path, name in _new_disks(vm, live)
        for kind in _OPTIONS
    )


def existing_disks(vm: Manifest, live: Manifest | None, objects: Lookup, *, adopt: bool) -> Iterator[Finding]:
    """An error for each disk that KubeVirt would not make for a VM, because it exists and is not the VM's.

    live: the live VM, whose disks are its own. adopt: the VM may become the owner of disks without owner.
    """
    for path, name in _new_disks(vm, live):
        for kind in _OPTIONS:
            disk = get_readable(objects, kind, namespace_of(vm), name)
            if disk is not None:
                if problem := _problem(kind, disk, name_of(vm), adopt):
                    remedy = "choose another name for the volume or the VM, or use this disk as it is with"
                    instead = "" if _kept_by(kind, disk) else ", or set adopt_disks: true"
                    yield Finding(problem, field=path, remedy=f"{remedy} {_OPTIONS[kind]}{instead}")
                break


def _new_disks(vm: Manifest, live: Manifest | None) -> Iterator[tuple[str, str]]:
    """(path, name) of each disk that KubeVirt makes for a VM and has not made for the live one."""
    existing = created_volumes(live or {})
    for index, template in enumerate(templates_of(vm)):
        if name_of(template) and name_of(template) not in existing:
            yield f"spec.dataVolumeTemplates[{index}]", name_of(template)


def is_own(kind: str, disk: Manifest, vm: str) -> bool:
    """Whether a DataVolume or a claim belongs to a VM of this name, or to the DataVolume of its own name."""
    owners = disk["metadata"].get("ownerReferences") or []
    # The garbage collector is deleting the disk of an earlier VM of that name, or the claim of an earlier DataVolume.
    earlier = {(_VM, vm), *([(_DATA_VOLUME, name_of(disk))] if kind == _CLAIM else [])}
    return any((owner.get("kind"), owner.get("name")) in earlier for owner in owners)


def _problem(kind: str, disk: Manifest, vm: str, adopt: bool) -> str:
    """The reason why KubeVirt must not use a disk; "" for one that is the VM's, or that it may adopt."""
    if is_own(kind, disk, vm):
        return ""
    kept_by = _kept_by(kind, disk)
    if kept_by:
        return (
            f"the {kind} {name_of(disk)} belongs to the {kept_by}: KubeVirt would use it with its content for this VM,"
            " too, until its owner deletes it"
        )
    owners = disk["metadata"].get("ownerReferences") or []
    whose = _label(owners[0]) if owners else ""
    belongs = f"belongs to the {whose}" if whose else "exists and has no owner"
    return (
        ""
        if adopt
        else f"the {kind} {name_of(disk)} {belongs}: KubeVirt would use it with its content, and delete it with the VM"
    )


def _kept_by(kind: str, disk: Manifest) -> str:
    """The owner for whom a disk stays when the VM is deleted; "" if there is none.

    KubeVirt takes a DataVolume from all owners but its controller. CDI adds an owner to a claim.
    """
    owners = disk["metadata"].get("ownerReferences") or []
    lasting = owners if kind == _CLAIM else [owner for owner in owners if owner.get("controller")]
    return _label(lasting[0]) if lasting else ""


def _label(owner: Manifest) -> str:
    return f"{owner.get('kind')} {owner.get('name')}"
