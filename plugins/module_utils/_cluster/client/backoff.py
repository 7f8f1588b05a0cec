"""How long to pause between the tries of one request."""

from __future__ import annotations

import random
import time

_FIRST = 0.1
_LONGEST = 5.0


class Backoff:
    """Pauses that double from 0.1 to 5 seconds, each shortened at random so that many clients do not come back at once.

    tries: how often was tried so far. seconds: since the first try.
    """

    def __init__(self) -> None:
        self._delay = _FIRST
        self._started = time.monotonic()
        self.tries = 1

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def next(self, asked: float | None = None) -> float:
        """The next pause in seconds. asked: what the server wants; a pause is never shorter than that."""
        delay, self._delay = self._delay, min(self._delay * 2, _LONGEST)
        self.tries += 1
        if asked is not None:
            return asked + random.uniform(0, delay)
        return random.uniform(delay / 2, delay)

    def pause(self, budget: float, asked: float | None = None) -> bool:
        """Sleeps until the next try; False, without a pause, if that would be later than `budget` seconds."""
        pause = self.next(asked)
        if self.seconds + pause > budget:
            self.tries -= 1
            return False
        time.sleep(pause)
        return True
