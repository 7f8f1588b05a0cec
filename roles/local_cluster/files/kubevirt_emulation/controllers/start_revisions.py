"""The start revision: a ControllerRevision with a VM's spec at its guest's start.

It belongs to the VM's generation. If the guest starts again without a change of the VM's spec, the old revision stays,
although the VM may refer to other revisions of its instancetype and preference by now.
"""

from __future__ import annotations

from typing import Any

from _resolver.api import release_schema
from _resolver.api.matcher import ROLES
from _resolver.instancetype.find import naming
from kubevirt_emulation import go_metadata
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.controllers.context import Context
from kubevirt_emulation.informer import Key
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.resources import REVISION

Manifest = dict[str, Any]

PREFIX = "revision-start-vm-"


class StartRevisions:
    """The start revisions by VM."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._cache = context.caches["ControllerRevision"]
        self._keys: dict[str, set[Key]] = {}  # by the VM's uid
        self._owners: dict[Key, str] = {}
        self._cache.on_change(self._changed)

    def _changed(self, key: Key) -> None:
        if not key[1].startswith(PREFIX):
            return
        before = self._owners.pop(key, None)
        if before is not None:
            self._keys[before].discard(key)
            if not self._keys[before]:
                del self._keys[before]
        owner = _owner(self._cache.get(key))
        if owner is not None:
            self._owners[key] = owner
            self._keys.setdefault(owner, set()).add(key)

    async def create(self, vm: Manifest) -> str:
        """Records the VM's spec unless its generation is recorded, and deletes other records. Returns the name."""
        metadata = vm["metadata"]
        recorded = False
        for manifest in self._owned(vm):
            if manifest.get("revision") == metadata["generation"]:
                recorded = True
            else:
                await self._delete(manifest)
        name = f"{PREFIX}{metadata['uid']}-{metadata['generation']}"
        if not recorded:
            await self._context.create_revision(
                metadata["namespace"],
                {
                    "metadata": {
                        "name": name,
                        "namespace": metadata["namespace"],
                        "ownerReferences": [naming.owner_reference(vm)],
                    },
                    "data": {"spec": _recorded_spec(vm, self._context.configuration)},
                    "revision": metadata["generation"],
                },
            )
        return name

    async def remove(self, vm: Manifest) -> None:
        """Deletes all records of a VM."""
        for manifest in self._owned(vm):
            await self._delete(manifest)

    def last_spec(self, vm: Manifest) -> Manifest | None:
        """The VM's spec at the last start; None without a record."""
        generations = {_generation(manifest): manifest for manifest in self._owned(vm)}
        return generations[max(generations)]["data"]["spec"] if generations else None

    def spec_of(self, vmi: Manifest) -> Manifest | None:
        """The VM's spec from which this VMI was made; None without a record."""
        name = (vmi.get("status") or {}).get("virtualMachineRevisionName") or ""
        found = self._cache.get((vmi["metadata"]["namespace"], name))
        return found["data"]["spec"] if found is not None else None

    def _owned(self, vm: Manifest) -> list[Manifest]:
        prefix = f"{PREFIX}{vm['metadata']['uid']}"
        found = (self._cache.get(key) for key in self._keys.get(vm["metadata"]["uid"], ()) if key[1].startswith(prefix))
        return [manifest for manifest in found if manifest is not None]

    async def _delete(self, manifest: Manifest) -> None:
        metadata = manifest["metadata"]
        try:
            await self._context.client.delete(REVISION, metadata["namespace"], metadata["name"])
        except ApiError as error:
            if error.code != 404:
                raise


def _owner(manifest: Manifest | None) -> str | None:
    """The uid of the VM that owns a revision."""
    references = ((manifest or {}).get("metadata") or {}).get("ownerReferences") or []
    return next((entry["uid"] for entry in references if entry["kind"] == "VirtualMachine"), None)


def _generation(manifest: Manifest) -> int:
    last = manifest["metadata"]["name"].rpartition("-")[2]
    return int(last) if last.isdigit() else 0


def _recorded_spec(vm: Manifest, configuration: KubeVirtConfiguration) -> Manifest:
    spec: Manifest = release_schema.canonical("VirtualMachine", vm, configuration.release)["spec"]
    for role in ROLES:
        name = ((role.reference_of(vm) or {}).get("controllerRevisionRef") or {}).get("name")
        if name and spec.get(role.matcher) is not None:
            spec[role.matcher]["revisionName"] = name
    return go_metadata.of_spec(spec, configuration.behaviour)
