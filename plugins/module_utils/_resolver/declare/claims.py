"""The claims that a VM uses, and ownership of objects."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]


def claims(vm: Manifest) -> list[str]:
    """The names of the PersistentVolumeClaims that a VM's volumes use, in order, without duplicates.

    A DataVolume's claim has the same name. `ephemeral` volumes only read their claim.
    """
    found: dict[str, None] = {}
    template = (vm.get("spec") or {}).get("template") or {}
    for volume in (template.get("spec") or {}).get("volumes") or []:
        for source in (volume, volume.get("ephemeral") or {}):
            name = (source.get("persistentVolumeClaim") or {}).get("claimName")
            if name:
                found[name] = None
        if (volume.get("dataVolume") or {}).get("name"):
            found[volume["dataVolume"]["name"]] = None
        if (volume.get("memoryDump") or {}).get("claimName"):
            found[volume["memoryDump"]["claimName"]] = None
    return list(found)


def only_owner(manifest: Manifest) -> str:
    """The UID of an object's only owner, after which the garbage collector deletes the object; "" if there is none.

    An object with several owners exists until the last of them is gone.
    """
    owners = manifest["metadata"].get("ownerReferences") or []
    return str(owners[0].get("uid", "")) if len(owners) == 1 else ""
