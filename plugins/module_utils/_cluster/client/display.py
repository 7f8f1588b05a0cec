"""Lines that users see while a module runs, if its action executes it directly (plugin_utils/_direct.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Display = Callable[[str], None]

# The innermost is last.
_displays: list[Display] = []


def display(line: str) -> None:
    """Shows a line at once, in a context of `displayed_by`."""
    for callback in _displays[-1:]:
        callback(line)


@contextmanager
def displayed_by(callback: Display) -> Iterator[None]:
    """Shows lines by `callback` in this context."""
    _displays.append(callback)
    try:
        yield
    finally:
        _displays.pop()
