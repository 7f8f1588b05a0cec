"""A queue of keys for controllers: a key has at most one worker, and is queued at most once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Hashable
from typing import Callable, Generic, TypeVar

log = logging.getLogger(__name__)

K = TypeVar("K", bound=Hashable)

# Growing intervals between attempts (seconds); the last one is short, because people wait.
FIRST_RETRY = 0.005
LAST_RETRY = 5.0


class WorkQueue(Generic[K]):
    """The keys to process, in the order in which they were added."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[K] = asyncio.Queue()
        self._dirty: set[K] = set()
        self._processing: set[K] = set()
        self._failures: dict[K, int] = {}

    def add(self, key: K) -> None:
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._processing:
            self._queue.put_nowait(key)

    def add_after(self, key: K, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self.add, key)

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
