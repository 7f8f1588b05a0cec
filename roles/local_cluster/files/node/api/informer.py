"""A cache of all objects of a kind, updated by a list and a watch."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from typing import Any, Callable

import aiohttp

from node.api.client import ApiError, Client
from node.api.resources import Resource

log = logging.getLogger(__name__)

Manifest = dict[str, Any]
Key = tuple[str, str]
Handler = Callable[[Key], None]

RETRY = 0.2  # seconds after a failed watch
REMEMBERED = 4096  # deleted objects, so that a late response does not restore one


def key_of(manifest: Manifest) -> Key:
    """(namespace, name); the namespace of a cluster-wide object is ""."""
    metadata = manifest["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


class Informer:
    """The objects of a kind, by (namespace, name). Callers must not change them.

    managedFields are left out, because they are a third of an object and nothing here needs them.
    """

    def __init__(self, client: Client, resource: Resource) -> None:
        self._client = client
        self.resource = resource
        self._objects: dict[Key, Manifest] = {}
        self._handlers: list[Handler] = []
        self._deleted: OrderedDict[str, None] = OrderedDict()
        self.synced = asyncio.Event()

    def get(self, key: Key) -> Manifest | None:
        return self._objects.get(key)

    def keys(self) -> list[Key]:
        return list(self._objects)

    def objects(self) -> list[Manifest]:
        return list(self._objects.values())

    def on_change(self, handler: Handler) -> None:
        """Registers a handler, which is called with the key of every added, changed or removed object."""
        self._handlers.append(handler)

    def observe(self, manifest: Manifest) -> None:
        """Stores the response to our own write, so that the next reader need not wait for the watch.

        Handlers are called at once, and not again for the watch's event.
        """
        key = key_of(manifest)
        current = self._objects.get(key)
        if manifest["metadata"]["uid"] in self._deleted:
            return
        if current is None or _version(current) < _version(manifest):
            self._store(key, manifest)
            self._notify(key)

    async def run(self) -> None:
        """Lists and watches until cancelled."""
        broken = False
        while True:
            try:
                version = await self._list()
                self.synced.set()
                if broken:
                    log.info("%s: listed again", self.resource.plural)
                    broken = False
                while True:
                    version = await self._watch(version)
            except (ApiError, aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
                # A watch from an expired version (410) ends here too; a new list follows.
                if not broken and self.synced.is_set():
                    log.info("%s: %s", self.resource.plural, error or type(error).__name__)
                    broken = True
            await asyncio.sleep(RETRY)

    async def _list(self) -> str:
        response = await self._client.list(self.resource)
        listed = {key_of(item): item for item in response["items"]}
        removed = [key for key in self._objects if key not in listed]
        for key in removed:
            del self._objects[key]
        for key, item in listed.items():
            # Items of a list lack these two.
            item.setdefault("kind", self.resource.kind)
            item.setdefault("apiVersion", self.resource.api_version)
            self._store(key, item)
        for key in [*removed, *listed]:
            self._notify(key)
        version: str = response["metadata"]["resourceVersion"]
        return version

    async def _watch(self, version: str) -> str:
        async for event in self._client.watch(self.resource, version):
            manifest = event["object"]
            version = manifest["metadata"]["resourceVersion"]
            if event["type"] == "BOOKMARK":
                continue
            key = key_of(manifest)
            current = self._objects.get(key)
            if event["type"] == "DELETED":
                self._remember(manifest["metadata"]["uid"])
                # A new object of the same name is newer than this event.
                if current is not None and _version(current) <= _version(manifest):
                    del self._objects[key]
                self._notify(key)
            elif current is None or _version(current) < _version(manifest):
                self._store(key, manifest)
                self._notify(key)
        return version

    def _remember(self, uid: str) -> None:
        self._deleted[uid] = None
        if len(self._deleted) > REMEMBERED:
            self._deleted.popitem(last=False)

    def _store(self, key: Key, manifest: Manifest) -> None:
        manifest["metadata"].pop("managedFields", None)
        self._objects[key] = manifest

    def _notify(self, key: Key) -> None:
        for handler in self._handlers:
            handler(key)


def _version(manifest: Manifest) -> int:
    return int(manifest["metadata"]["resourceVersion"])
