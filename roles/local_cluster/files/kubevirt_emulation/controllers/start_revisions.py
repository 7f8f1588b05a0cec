"""The third ControllerRevision: a VM's spec as it was when the VM was started last."""

from __future__ import annotations

from typing import Any

from _resolver.api import release_schema
from _resolver.api.matcher import ROLES
from _resolver.instancetype.find import revision
from kubevirt_emulation import go_metadata
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.controllers.context import Context
from kubevirt_emulation.informer import Key
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.resources import REVISION

Manifest = dict[str, Any]

PREFIX = "revision-start-vm-"
_UID_LENGTH = 36


class StartRevisions:
    """Knows which of them each VM has."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._cache = context.caches["ControllerRevision"]
        self._names: dict[str, set[str]] = {}
        self._cache.on_change(self._changed)

    def _changed(self, key: Key) -> None:
        name = key[1]
        if not name.startswith(PREFIX):
            return
        uid = name[len(PREFIX) : len(PREFIX) + _UID_LENGTH]
        if self._cache.get(key) is not None:
            self._names.setdefault(uid, set()).add(name)
        elif uid in self._names:
            self._names[uid].discard(name)
            if not self._names[uid]:
                del self._names[uid]

    async def create(self, vm: Manifest) -> str:
        """Records the VM's spec; older records go. Returns the revision's name."""
        metadata = vm["metadata"]
        name = f"{PREFIX}{metadata['uid']}-{metadata['generation']}"
        manifest = {
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "ownerReferences": [revision.owner_reference(vm)],
            },
            "data": {"spec": _recorded_spec(vm, self._context.configuration)},
            "revision": metadata["generation"],
        }
        existing = self._cache.get((metadata["namespace"], name))
        outdated = set(self._names.get(metadata["uid"], ())) - {name}
        if existing is not None and existing["data"] != manifest["data"]:
            outdated.add(name)
        for old in outdated:
            await self._delete(metadata["namespace"], old)
        if existing is None or name in outdated:
            await self._create(metadata["namespace"], manifest)
        return name

    async def remove(self, vm: Manifest) -> None:
        """Removes all records of a VM."""
        for name in set(self._names.get(vm["metadata"]["uid"], ())):
            await self._delete(vm["metadata"]["namespace"], name)

    def spec(self, vm: Manifest, vmi: Manifest) -> Manifest | None:
        """The VM's spec when this VMI was started, if it is known."""
        name = (vmi.get("status") or {}).get("virtualMachineRevisionName") or ""
        found = self._cache.get((vm["metadata"]["namespace"], name))
        return found["data"]["spec"] if found is not None else None

    async def _create(self, namespace: str, manifest: Manifest) -> None:
        try:
            await self._context.create_revision(namespace, manifest)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    async def _delete(self, namespace: str, name: str) -> None:
        try:
            await self._context.client.delete(REVISION, namespace, name)
        except ApiError as error:
            if error.code != 404:
                raise


def _recorded_spec(vm: Manifest, configuration: KubeVirtConfiguration) -> Manifest:
    spec: Manifest = release_schema.canonical("VirtualMachine", vm, configuration.release)["spec"]
    for role in ROLES:
        name = ((role.reference_of(vm) or {}).get("controllerRevisionRef") or {}).get("name")
        if name and spec.get(role.matcher) is not None:
            spec[role.matcher]["revisionName"] = name
    return go_metadata.of_spec(spec, configuration.behaviour)
