"""The VMs that do not run as declared yet, and when to ask why."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Final

# Seconds between two diagnoses of a VM.
_AGAIN: Final = 60.0


class Unsettled:
    """The VMs that are on their way, or broken: NAMESPACE/NAME → when its diagnosis is due."""

    def __init__(self, patience: float) -> None:
        """No VM yet. patience: the seconds that a VM may be on its way before it is diagnosed."""
        self._patience = patience
        self._due: dict[str, float] = {}

    def note(self, name: str, *, settled: bool) -> None:
        """Notes the result of a look at a VM."""
        if settled:
            self._due.pop(name, None)
        else:
            self._due.setdefault(name, time.monotonic() + self._patience)

    def due(self) -> list[str]:
        """The VMs whose diagnoses are due."""
        now = time.monotonic()
        return [name for name, at in self._due.items() if at <= now]

    def next(self) -> float:
        """The moment at which the next diagnosis is due."""
        return min(self._due.values(), default=float("inf"))

    def put_off(self, names: Collection[str]) -> None:
        """Notes that VMs were diagnosed, or cannot be."""
        for name in names:
            if name in self._due:
                self._due[name] = time.monotonic() + max(_AGAIN, self._patience)
