"""How far an upload has got."""

from __future__ import annotations

from typing import Final

from ...client.screen import show

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
            show(f"{self._name}: {100 * step // _STEPS} % of {self._length} bytes uploaded")
