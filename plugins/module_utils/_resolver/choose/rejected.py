"""Why nothing can be chosen for a request."""

from __future__ import annotations


class Rejected(ValueError):
    """An invalid option or object; one line names it and the reason."""


class MissingObject(Rejected):
    """An object is missing without which no choice fits the request."""
