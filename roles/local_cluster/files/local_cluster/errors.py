"""The error of the launcher, for its caller."""

from __future__ import annotations


class LauncherError(Exception):
    """An error that the user has to know or resolve: a sentence, with the last log lines if they help."""


class Interrupted(BaseException):
    """A signal ended this launcher. Not an `Exception`, so that no handler swallows it."""
