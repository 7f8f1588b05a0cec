"""What all controllers of the node have in common."""

from __future__ import annotations

import logging
from typing import Any

from node.api.client import ApiError
from node.api.informer import Informer, Key
from node.api.workqueue import WorkQueue

Manifest = dict[str, Any]


class NotYet(Exception):
    """An object waits for something that no cache reports; it is tried again a little later."""


class Controller:
    """Works on the objects of a cache that change, each by one worker at a time."""

    workers = 8

    def __init__(self, cache: Informer) -> None:
        self.cache = cache
        self.queue: WorkQueue[Key] = WorkQueue()
        self.log = logging.getLogger(type(self).__module__)
        cache.on_change(self.queue.add)

    async def run(self) -> None:
        """Works until cancelled."""
        await self.queue.run(self.workers, self._handle)

    async def sync(self, key: Key) -> None:
        """One step for an object, which may be gone. May raise ApiError: then it is tried again."""
        raise NotImplementedError

    async def _handle(self, key: Key) -> None:
        try:
            await self.sync(key)
        except NotYet:
            self.queue.retry(key)
            return
        except ApiError as error:
            if error.code == 404:  # gone meanwhile; the watch says so
                self.queue.forget(key)
                return
            if error.code != 409:
                self.log.warning("%s: %s", "/".join(filter(None, key)), error)
            self.queue.retry(key)
            return
        self.queue.forget(key)
