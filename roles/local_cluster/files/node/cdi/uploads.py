"""Simulates CDI's upload servers, and the clone sources that send to them."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from node.api.informer import Key
from node.guests.store import Store
from node.kubelet.needs import claims
from node.kubelet.programs import Outcome

Manifest = dict[str, Any]


class Uploads:
    """Upload servers by namespace and name of their Service. store: what claims hold; None for nothing."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._volumes: dict[Key, str] = {}  # that of each server's claim
        self._received: dict[Key, asyncio.Future[str]] = {}
        self._serving: dict[Key, asyncio.Event] = {}

    async def serve(self, pod: Manifest) -> Outcome:
        """The program of an upload server: ends when it has received its data."""
        key = (pod["metadata"]["namespace"], pod["metadata"]["labels"]["service"])
        received = asyncio.get_running_loop().create_future()
        self._received[key] = received
        self._volumes[key] = self._volume(pod)
        self._event(key).set()
        try:
            text = await received
        finally:
            if self._received.get(key) is received:
                del self._received[key]
                self._serving.pop(key, None)
        return Outcome(0, json.dumps({"preallocationApplied": False, "message": text}, separators=(",", ":")))

    def finish(self, key: Key, text: str = "Upload Complete") -> bool:
        """Lets an upload server end. Returns whether there was one that had received nothing before."""
        received = self._received.get(key)
        if received is None or received.done():
            return False
        received.set_result(text)
        return True

    def is_serving(self, key: Key) -> bool:
        return key in self._received and not self._received[key].done()

    async def send(self, pod: Manifest) -> Outcome:
        """The program of a clone source: ends when its target has everything."""
        values = {entry["name"]: entry.get("value", "") for entry in pod["spec"]["containers"][0].get("env") or []}
        service, namespace = (urlsplit(values["UPLOAD_URL"]).hostname or "").split(".")[:2]
        key = (namespace, service)
        await self._event(key).wait()
        if self._store is not None:
            await self._store.copy(self._volume(pod), self._volumes[key])
        self.finish(key, "Clone Complete")
        return Outcome(0, "Clone Complete")

    def _volume(self, pod: Manifest) -> str:
        """The volume of a pod's only claim; "" where nothing is stored."""
        names = claims(pod) if self._store is not None else []
        return self._store.volume(pod["metadata"]["namespace"], names[0]) if self._store and names else ""

    def _event(self, key: Key) -> asyncio.Event:
        return self._serving.setdefault(key, asyncio.Event())
