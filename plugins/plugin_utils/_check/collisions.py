"""Finds VMs of a repository that make or write to the same disk, that have the same MAC address, or that would take
over a declared disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Final

from ...module_utils._resolver.api.finding import COLLISION, WARNING, Finding
from ...module_utils._resolver.api.manifest import Manifest, name_of, namespace_of, namespaced_name
from ...module_utils._resolver.api.matcher import ObjectKey
from ...module_utils._resolver.kubevirt.instancetype.lookup import get_readable
from ...module_utils._resolver.preflight.collisions import MAKES, Name, Use, collisions, uses
from ...module_utils._resolver.preflight.existing_disks import is_own
from .checked_objects import VM, CheckedObject, KnownObjects
from .findings import LocatedFinding
from .placeholders import is_unknown

# A disk that KubeVirt uses instead of a new one → the volume and the option that use it as it is.
_DISKS: Final = {
    "DataVolume": ("dataVolume", "data_volume"),
    "PersistentVolumeClaim": ("persistentVolumeClaim", "persistent_volume_claim"),
}

# The namespace of objects without one.
_DEFAULT: Final = "default"


def findings(
    objects: Sequence[CheckedObject], files: Mapping[ObjectKey, str], lookup: KnownObjects
) -> Iterator[LocatedFinding]:
    """Findings about VMs in files that collide with each other, with other objects of files, or with the cluster's VMs.

    Files may be for different clusters, so only VMs of one file surely meet.
    """
    yield from _taken_disks(objects, files, lookup)
    vms = [declared for declared in objects if declared.manifest["kind"] == VM]
    known = {namespaced_name(manifest): uses(manifest) for manifest in lookup.all if manifest["kind"] == VM}
    among_all = collisions({**known, **{namespaced_name(declared.manifest): _uses(declared) for declared in vms}})
    by_file: dict[str, list[Manifest]] = {}
    for declared in vms:
        by_file.setdefault(declared.location.file, []).append(declared.manifest)
    in_file = {file: _collisions(manifests) for file, manifests in by_file.items()}
    for declared in vms:
        name = namespaced_name(declared.manifest)
        certain = {finding.field for finding in in_file[declared.location.file].get(name, ())}
        for finding in among_all.get(name, ()):
            severity = finding.severity if finding.field in certain else WARNING
            yield declared.finding(COLLISION, severity, finding.field, finding.message)


def _taken_disks(
    objects: Sequence[CheckedObject], files: Mapping[ObjectKey, str], lookup: KnownObjects
) -> Iterator[LocatedFinding]:
    """Findings about VMs for which KubeVirt would use a disk of a file or of the cluster instead of making it."""
    for vm in objects:
        if vm.manifest["kind"] != VM or vm.adopts_disks or any(map(is_unknown, namespaced_name(vm.manifest))):
            continue
        for use in uses(vm.manifest):
            if use.what == MAKES:
                keys = [ObjectKey(kind, use.place, use.value) for kind in _DISKS]
                disks = {key: get_readable(lookup, *key) for key in keys}
                # The claim of the VM's own DataVolume is the VM's, too.
                if any(disk and is_own(key.kind, disk, name_of(vm.manifest)) for key, disk in disks.items()):
                    continue
                texts = (_taken(vm, key, disk, files.get(key, "")) for key, disk in disks.items())
                if text := next(filter(None, texts), ""):
                    yield vm.finding(COLLISION, WARNING, use.path, text)


def _taken(vm: CheckedObject, key: ObjectKey, disk: Manifest | None, file: str) -> str:
    """Why a disk that is not the VM's must not have the name of one that the VM makes; "" if there is none.

    disk: None for one that a file declares by another object, such as the claim of a DataVolume.
    """
    if file and _place(vm, file) != _place(vm, vm.location.file):
        return ""
    owners = disk["metadata"].get("ownerReferences") or [] if disk else []
    # A disk of the cluster without owner may be the VM's: exports and backups drop the owner.
    if not (file or owners):
        return ""
    disk_label = f"the {key.kind} {key.label}"
    problem = (
        f"{file} declares {disk_label}: KubeVirt uses it for this VM with its content, and deletes it with the VM"
        if file
        else f"{disk_label} belongs to the {owners[0].get('kind')} {owners[0].get('name')}: KubeVirt uses it with its"
        " content for this VM, too"
    )
    volume, option = _DISKS[key.kind]
    remedy = f"a {volume} volume instead of the template" if vm.adopts_disks is None else option
    adoption = ", or set adopt_disks: true" if file and vm.adopts_disks is not None else ""
    return f"{problem}; choose another name for one of them, or use it as it is with {remedy}{adoption}"


def _uses(declared: CheckedObject) -> list[Use]:
    place = _place(declared, declared.location.file)
    return [use._replace(place=f"{place}{use.place}") for use in uses(declared.manifest)]


def _place(vm: CheckedObject, file: str) -> str:
    """A folder if the VM has no namespace: whoever applies a folder says where its objects are to be."""
    return f"{PurePath(file).parent}:" if namespace_of(vm.manifest) == _DEFAULT else ""


def _collisions(vms: Iterable[Manifest]) -> dict[Name, list[Finding]]:
    return collisions({namespaced_name(vm): uses(vm) for vm in vms})
