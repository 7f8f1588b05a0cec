"""The pauses before requests: between the attempts of one, and of all to stay below a rate."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

_FIRST = 0.1
_LONGEST = 5.0


class Backoff:
    """Pauses that double from 0.1 to 5 seconds, shortened at random so that clients do not retry at the same moment.

    tries: the attempts so far. seconds: the time since the first attempt.
    """

    def __init__(self) -> None:
        self._delay = _FIRST
        self._started = time.monotonic()
        self.tries = 1

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def next(self, minimum: float | None = None) -> float:
        """The next pause in seconds. minimum: the seconds that the server asks to wait."""
        delay, self._delay = self._delay, min(self._delay * 2, _LONGEST)
        self.tries += 1
        if minimum is not None:
            return minimum + random.uniform(0, delay)
        return random.uniform(delay / 2, delay)

    def pause(self, budget: float, minimum: float | None = None) -> bool:
        """Sleeps until the next attempt. Returns False at once if the attempt would come after `budget` seconds."""
        pause = self.next(minimum)
        if self.seconds + pause > budget:
            self.tries -= 1
            return False
        time.sleep(pause)
        return True


class TokenBucket:
    """Permits `rate` requests per second, and after a pause a burst of one second's worth."""

    def __init__(
        self, rate: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        """rate: more than 0."""
        self._rate = rate
        self._burst = max(1.0, rate)
        self._tokens = self._burst
        self._clock = clock
        self._sleep = sleep
        self._updated = clock()
        self._lock = threading.Lock()

    def take(self) -> None:
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
