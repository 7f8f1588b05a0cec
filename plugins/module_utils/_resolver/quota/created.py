"""What is created for a VM besides its pod: objects that quotas count, and the storage of its DataVolumes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..api.errors import FieldError, QuantityError
from ..api.matcher import ROLES
from .item import Item, claim

Manifest = dict[str, Any]

_VM: Final = "virtualmachines.kubevirt.io"
_GUEST: Final = "virtualmachineinstances.kubevirt.io"
_REVISION: Final = "controllerrevisions.apps"
_VOLUME: Final = "datavolumes.cdi.kubevirt.io"


def of_new(vm: Manifest, default_class: str = "") -> list[Item]:
    """The VM itself, its revisions, its DataVolumes and their claims.

    default_class: the storage class of claims without one. Unknown are the size of a DataVolume that leaves it to its
    source, and what CDI adds for a file system and during the import. Raises FieldError.
    """
    name = str((vm.get("metadata") or {}).get("name") or "")
    revisions = [Item(_REVISION, name) for role in ROLES if role.matcher_of(vm)]
    return [Item(_VM, name), *revisions, *_volumes(vm, default_class)]


def of_start(vm: Manifest) -> list[Item]:
    """What virt-controller creates besides the pod when the VM starts."""
    return [Item(_GUEST, str((vm.get("metadata") or {}).get("name") or ""))]


def _volumes(vm: Manifest, default_class: str) -> Iterator[Item]:
    for index, template in enumerate(vm["spec"].get("dataVolumeTemplates") or ()):
        name = (template.get("metadata") or {}).get("name") or ""
        spec = template.get("spec") or {}
        asked = spec.get("storage") or spec.get("pvc") or {}
        size = ((asked.get("resources") or {}).get("requests") or {}).get("storage")
        named = asked.get("storageClassName")
        yield Item(_VOLUME, name)
        try:
            yield claim(name, None if size is None else str(size), default_class if named is None else named)
        except QuantityError as error:
            raise FieldError(f"spec.dataVolumeTemplates[{index}]", f"{size}: {error}") from None
