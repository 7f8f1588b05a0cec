"""Shared by the steps of the VM controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kubevirt_emulation import go_metadata
from kubevirt_emulation.client import JSON_PATCH, MERGE_PATCH, Client
from kubevirt_emulation.events import Recorder
from kubevirt_emulation.informer import Informer
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.lookup import Objects
from kubevirt_emulation.resources import REVISION, VM, VMI

Manifest = dict[str, Any]

_GO_ORDER = ("kind", "apiVersion", "metadata", "spec")


class Failure(Exception):
    """A step failed. reason: of the VM's condition Failure."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass
class Work:
    """The synchronization of a VM: the VM and its VMI after the steps so far.

    failure: what stopped the steps. provisioning: a volume is still being filled.
    """

    vm: Manifest
    vmi: Manifest | None
    failure: Failure | None = None
    provisioning: bool = False


@dataclass(frozen=True)
class Context:
    """The cluster as virt-controller sees it."""

    client: Client
    caches: dict[str, Informer]
    objects: Objects
    configuration: KubeVirtConfiguration
    recorder: Recorder

    async def patch_vm(self, vm: Manifest, body: Any, subresource: str = "") -> Manifest:
        """Patches the VM if it is unchanged, else raises ApiError 409. The patch does not queue the VM again.

        body: a list is a JSON patch, a dict a merge patch.
        """
        metadata = vm["metadata"]
        version = metadata["resourceVersion"]
        if isinstance(body, list):
            content_type = JSON_PATCH
            body = [{"op": "replace", "path": "/metadata/resourceVersion", "value": version}, *body]
        else:
            content_type = MERGE_PATCH
            body = {**body, "metadata": {**body.get("metadata", {}), "resourceVersion": version}}
        answer = await self.client.patch(
            VM, metadata["namespace"], metadata["name"], body, content_type, subresource=subresource
        )
        self.caches["VirtualMachine"].observe(answer, quiet=True)
        return answer

    async def patch_vmi(self, vmi: Manifest, body: Any) -> Manifest:
        """Patches the VMI. body: a list is a JSON patch, a dict a merge patch."""
        metadata = vmi["metadata"]
        content_type = JSON_PATCH if isinstance(body, list) else MERGE_PATCH
        answer = await self.client.patch(VMI, metadata["namespace"], metadata["name"], body, content_type)
        self.caches["VirtualMachineInstance"].observe(answer)
        return answer

    async def create_revision(self, namespace: str, manifest: Manifest) -> None:
        """Creates a ControllerRevision from a manifest without apiVersion and kind."""
        body = {"apiVersion": REVISION.api_version, "kind": REVISION.kind, **manifest}
        # The API server stores the data byte by byte, in the key order of KubeVirt's Go types. The order matters: a
        # strategic merge patch sorts the keys, and so is rejected as a change of the immutable data.
        data = manifest["data"]
        if "metadata" in data:
            data = go_metadata.of_object(data, self.configuration.behaviour)
        body["data"] = {key: data[key] for key in sorted(data, key=_GO_ORDER.index)}
        self.caches["ControllerRevision"].observe(await self.client.create(REVISION, namespace, body))
