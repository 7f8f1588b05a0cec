"""Which claims a VM uses, and which of them outlive it."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]


def claims(vm: Manifest) -> list[str]:
    """Names of the PersistentVolumeClaims that a VM's volumes use, in order, each once.

    A DataVolume's claim has its name. `ephemeral` volumes read their claim, and do not change it.
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
    """Whether the object with that uid is an owner, so that the garbage collector takes this one after it.

    An object with more than one owner outlives each but the last; then it is not owned in this sense.
    """
    owners = manifest["metadata"].get("ownerReferences") or []
    return len(owners) == 1 and owners[0].get("uid") == uid
