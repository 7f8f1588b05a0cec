"""Reports how far an upload has got to the action plugin, because a module cannot print while it runs."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "VIRTSHAPE_PROGRESS"
"""The environment variable with the path of the file that the action plugin follows; without it nobody does."""
_STEPS: Final = 10


class Progress:
    """The progress of one upload. read: bytes of the file that have been read in this try."""

    def __init__(self, name: str, length: int) -> None:
        self.read = 0
        self._name = name
        self._length = length
        self._step = 0

    def told(self, count: int) -> None:
        """count: bytes that have been read so far."""
        self.read = count
        step = _STEPS * count // self._length if self._length else _STEPS
        if step != self._step:
            self._step = step
            self._say(f"{self._name}: {100 * step // _STEPS} % of {self._length} bytes uploaded")

    def _say(self, line: str) -> None:
        path = os.environ.get(VARIABLE)
        # The upload matters, not who follows it.
        with contextlib.suppress(OSError):
            if path:
                with Path(path).open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
