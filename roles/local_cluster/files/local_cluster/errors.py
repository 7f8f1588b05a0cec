"""What the launcher raises: one kind of error, whose text is for the person who called it."""

from __future__ import annotations


class LauncherError(Exception):
    """Something the user has to know or do; its text is a sentence, with the last log lines where they help."""


class Interrupted(BaseException):
    """A signal asked this launcher to end. Not an `Exception`, so that no handler swallows it."""
