"""A limit of requests per second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class TokenBucket:
    """Permits `rate` requests per second, and after a pause a burst of one second's worth."""

    def __init__(
        self, rate: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """A bucket that begins full. rate: requests per second, more than 0."""
        self._rate = rate
        self._burst = max(1.0, rate)
        self._tokens = self._burst
        self._clock = clock
        self._sleep = sleep
        self._updated = clock()
        self._lock = threading.Lock()

    def wait_for_turn(self) -> None:
        """Waits until one more request may be sent."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self._burst, self._tokens + (now - self._updated) * self._rate)
            self._updated = now
            # Negative tokens are the place in the queue: a later caller waits longer.
            self._tokens -= 1
            wait = -self._tokens / self._rate
        if wait > 0:
            self._sleep(wait)
