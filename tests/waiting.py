"""Tests wait for an event, and no longer."""

import time
from collections.abc import Callable
from typing import Any


def wait_until(holds: Callable[[], Any], seconds: float = 600, pause: float = 0.05) -> Any:
    """The answer of `holds` once it is true. Fails if it is not after so many seconds."""
    end = time.monotonic() + seconds
    while not (answer := holds()):
        assert time.monotonic() < end, f"it has not come about within {seconds} seconds"
        time.sleep(pause)
    return answer
