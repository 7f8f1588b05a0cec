"""How far an object is on the way to the state that a task waits for."""

from __future__ import annotations

from typing import NamedTuple


class Progress(NamedTuple):
    """The object is done, has failed for good (the reason), or is pending (what it waits for).

    stuck: the failure if the state lasts for `grace` seconds; until then the object may recover.
    """

    done: bool = False
    failed: str | None = None
    pending: str = ""
    stuck: str | None = None
    grace: float = 0.0
