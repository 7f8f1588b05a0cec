"""What runs in a pod. Nothing does in most: they run until they are deleted."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Callable, NamedTuple, Optional

Manifest = dict[str, Any]


class Outcome(NamedTuple):
    """How a program has ended: the exit code of its container, and the termination message.

    reason: of a container that was never started, such as ErrImagePull. image_id: of the container's image.
    """

    code: int = 0
    message: str = ""
    reason: str = ""
    image_id: str = ""


Program = Callable[[], Awaitable[Outcome]]
Finder = Callable[[Manifest], Optional[Program]]
"""The program of a pod, None for one that never ends by itself."""
