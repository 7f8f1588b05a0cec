"""Disks of a VM that are smaller than declared, judged by their claims.

KubeVirt creates a DataVolume once, and ignores a later size of its template. A claim can grow where its StorageClass
permits it, and KubeVirt tells the guest. It never shrinks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from .._resolver.api.errors import QuantityError
from .._resolver.api.finding import WARNING, Finding
from .._resolver.api.manifest import Manifest, name_of, namespace_of
from .._resolver.api.quantity import human_readable, parse
from .._resolver.kubevirt.instancetype.lookup import Lookup, get_readable
from .._resolver.preflight.references import requested_size, templates_of

_CLAIM: Final = "PersistentVolumeClaim"


class SmallDisk(NamedTuple):
    """A disk that is smaller than declared.

    path: where the VM declares the disk. namespace, name: the claim. size: the quantity that the claim requests.
    declared: the quantity to grow to. storage_class: the StorageClass of the claim, "" for none.
    """

    path: str
    namespace: str
    name: str
    size: str
    declared: str
    storage_class: str

    @property
    def line(self) -> str:
        return f"{self.path}: the disk {self.name} has {_shown(self.size)} and not the declared {self.declared}"


def disks_to_grow(vm: Manifest, objects: Lookup) -> Iterator[SmallDisk]:
    """The disks whose claims request less than the VM declares. A claim may request more, because CDI adds overhead.

    A claim without storage cannot grow; see `fixed_disks`.
    """
    for path, claim, requested, declared in _claims(vm, objects):
        if bytes_of(declared) > bytes_of(requested) and not is_unbound(claim):
            storage_class = str((claim.get("spec") or {}).get("storageClassName") or "")
            yield SmallDisk(path, namespace_of(vm), name_of(claim), requested, declared, storage_class)


def shrink_findings(vm: Manifest, live: Manifest, objects: Lookup) -> Iterator[Finding]:
    """A finding for each disk whose declared size a task lowers below the size of its claim."""
    before = {name_of(template): requested_size(template) for template in templates_of(live)}
    for path, claim, requested, declared in _claims(vm, objects):
        was = before.get(name_of(claim)) or declared
        if bytes_of(declared) < bytes_of(was) <= bytes_of(requested):
            text = f"the disk {name_of(claim)} keeps its {_shown(requested)}, because claims never shrink"
            yield Finding(text, WARNING, path)


def obstacle_to_growth(disk: SmallDisk, classes: Mapping[str, Manifest] | None) -> str:
    """Why a claim cannot grow, with the remedy; "" if it can, or if it is not known.

    classes: the StorageClasses by name; None if the user may not read them.
    """
    storage_class = (classes or {}).get(disk.storage_class)
    if storage_class is None or storage_class.get("allowVolumeExpansion"):
        return ""
    remedy = "declare the size that it has, or another disk"
    return f"its StorageClass {name_of(storage_class)} does not allow expansion; {remedy}"


def is_unbound(claim: Manifest) -> bool:
    """Whether a claim waits for its storage."""
    return (claim.get("status") or {}).get("phase") == "Pending"


def _claims(vm: Manifest, objects: Lookup) -> Iterator[tuple[str, Manifest, str, str]]:
    """(path, claim, what it requests, the declared size) of the disks that exist."""
    for index, template in enumerate(templates_of(vm)):
        if declared := requested_size(template):
            claim = get_readable(objects, _CLAIM, namespace_of(vm), name_of(template)) or {}
            if requested := requested_size(claim):
                yield f"spec.dataVolumeTemplates[{index}]", claim, requested, declared


def _shown(size: str) -> str:
    """A size with a suffix: CDI requests bytes."""
    return human_readable(size) if size.isdigit() else size


def bytes_of(size: str) -> int:
    """The bytes of a quantity in billionths; 0 for a quantity that is none."""
    try:
        return parse(size).nanos
    except QuantityError:
        return 0
