"""What CDI's parts share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from _resolver.boot.storage_class import default_class
from kubevirt_emulation.client import Client
from kubevirt_emulation.events import Recorder
from kubevirt_emulation.informer import Informer, key_of
from kubevirt_emulation.resources import KINDS

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """The cluster as CDI sees it. caches: by kind."""

    client: Client
    caches: dict[str, Informer]
    recorder: Recorder

    @property
    def installed(self) -> bool:
        """Whether there is a CDI: without the object of that kind all volumes stay as they are."""
        return bool(self.caches["CDI"].objects())

    @property
    def configuration(self) -> Manifest:
        """`spec` of the CDIConfig."""
        found = self.caches["CDIConfig"].get(("", "config")) or {}
        return found.get("spec") or {}

    def storage_class(self, name: str | None) -> Manifest | None:
        """The StorageClass of that name, the default one without a name; None if there is none."""
        classes = self.caches["StorageClass"].objects()
        if name:
            return next((one for one in classes if one["metadata"]["name"] == name), None)
        return default_class(classes)

    async def patch(self, manifest: Manifest, body: Manifest, subresource: str = "") -> Manifest:
        """Merges the body into an object of a known kind; returns the object as it is then."""
        kind = KINDS[manifest["kind"]]
        answer = await self.client.patch(kind, *key_of(manifest), body, subresource=subresource)
        self.caches[manifest["kind"]].observe(answer)
        return answer

    async def create(self, manifest: Manifest) -> Manifest:
        """Creates an object of a known kind."""
        answer = await self.client.create(KINDS[manifest["kind"]], manifest["metadata"]["namespace"], manifest)
        self.caches[manifest["kind"]].observe(answer)
        return answer

    async def delete(self, manifest: Manifest) -> None:
        """Deletes an object of a known kind."""
        await self.client.delete(KINDS[manifest["kind"]], *key_of(manifest))
