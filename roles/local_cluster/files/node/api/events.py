"""Events, which users see with `kubectl describe`."""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import Any

from node.api.client import ApiError, Client
from node.api.clock import now
from node.api.resources import EVENT

log = logging.getLogger(__name__)

Manifest = dict[str, Any]


class Recorder:
    """Writes events in the background; failures are ignored."""

    def __init__(self, client: Client, component: str) -> None:
        self._client = client
        self._component = component
        self._running: set[asyncio.Task[None]] = set()

    def warning(self, about: Manifest, reason: str, message: str) -> None:
        metadata = about["metadata"]
        time = now()
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{metadata['name']}.{secrets.token_hex(8)}", "namespace": metadata["namespace"]},
            "involvedObject": {
                "apiVersion": about["apiVersion"],
                "kind": about["kind"],
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
            },
            "type": "Warning",
            "reason": reason,
            "message": message,
            "count": 1,
            "firstTimestamp": time,
            "lastTimestamp": time,
            "source": {"component": self._component},
            "reportingComponent": self._component,
        }
        task = asyncio.create_task(self._write(event))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _write(self, event: Manifest) -> None:
        try:
            await self._client.create(EVENT, event["metadata"]["namespace"], event)
        except ApiError as error:
            log.debug("event %s: %s", event["metadata"]["name"], error)
