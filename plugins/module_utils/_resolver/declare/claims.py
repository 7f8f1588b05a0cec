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


def owned_by(manifest: Manifest, uid: str) -> bool:
    """Whether the object with that UID is the only owner, so that the garbage collector deletes this object after it.

    An object with several owners exists until the last of them is gone.
    """
    owners = manifest["metadata"].get("ownerReferences") or []
    return len(owners) == 1 and owners[0].get("uid") == uid
