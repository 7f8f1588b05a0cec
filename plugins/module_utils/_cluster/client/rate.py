"""A limit of requests a second, shared by the threads of a task."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class TokenBucket:
    """Lets `rate` requests a second through, and up to a second's worth at once after a rest."""

    def __init__(
        self, rate: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """rate: more than 0."""
        self._rate = rate
        self._room = max(1.0, rate)
        self._tokens = self._room
        self._clock = clock
        self._sleep = sleep
        self._seen = clock()
        self._lock = threading.Lock()

    def take(self) -> None:
        """Returns when one more request may be sent."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self._room, self._tokens + (now - self._seen) * self._rate)
            self._seen = now
            # A debt is the place in the queue: who comes later waits longer.
            self._tokens -= 1
            wait = -self._tokens / self._rate
        if wait > 0:
            self._sleep(wait)
