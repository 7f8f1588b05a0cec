"""What all controllers of the node have in common, and their queue of keys."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Hashable
from typing import Any, Callable, Generic, TypeVar

from node.api.client import ApiError
from node.api.informer import Informer, Key

Manifest = dict[str, Any]
K = TypeVar("K", bound=Hashable)

# Growing intervals between attempts (seconds); the last one is short, because people wait.
FIRST_RETRY = 0.005
LAST_RETRY = 5.0

log = logging.getLogger(__name__)


class WorkQueue(Generic[K]):
    """The keys to process, in the order in which they were added: each at most once, and by one worker at a time."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[K] = asyncio.Queue()
        self._dirty: set[K] = set()
        self._processing: set[K] = set()
        self._failures: dict[K, int] = {}
        self._later: dict[K, asyncio.TimerHandle] = {}

    def add(self, key: K) -> None:
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._processing:
            self._queue.put_nowait(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Adds the key after an interval. Only the earliest of several counts, as in client-go's delaying queue."""
        loop, waiting = asyncio.get_running_loop(), self._later.get(key)
        if waiting is not None:
            if waiting.when() <= loop.time() + seconds:
                return
            waiting.cancel()
        self._later[key] = loop.call_later(seconds, self._add_now, key)

    def _add_now(self, key: K) -> None:
        del self._later[key]
        self.add(key)

    def retry(self, key: K) -> None:
        """Adds the key after an interval that doubles with each failure."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self.add_after(key, min(FIRST_RETRY * 2 ** min(failures, 40), LAST_RETRY))

    def forget(self, key: K) -> None:
        """Resets the key's failures after a success."""
        self._failures.pop(key, None)

    async def run(self, workers: int, handle: Callable[[K], Awaitable[None]]) -> None:
        """Processes keys until cancelled. If the handler raises, the key is retried."""
        async with asyncio.TaskGroup() as group:
            for _number in range(workers):
                group.create_task(self._work(handle))

    async def _work(self, handle: Callable[[K], Awaitable[None]]) -> None:
        while True:
            key = await self._queue.get()
            self._dirty.discard(key)
            self._processing.add(key)
            try:
                await handle(key)
            except Exception:
                log.exception("%s: failed", key)
                self.retry(key)
            finally:
                self._processing.discard(key)
                if key in self._dirty:
                    self._queue.put_nowait(key)


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
