"""What users see while a module runs: nothing, unless its action executes it directly (plugin_utils/_direct.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Show = Callable[[str], None]

# The innermost is last.
_screens: list[Show] = []


def show(line: str) -> None:
    """Shows a line at once, if somebody can see it."""
    for screen in _screens[-1:]:
        screen(line)


@contextmanager
def shown_by(screen: Show) -> Iterator[None]:
    """In this context, `screen` shows the lines."""
    _screens.append(screen)
    try:
        yield
    finally:
        _screens.pop()
