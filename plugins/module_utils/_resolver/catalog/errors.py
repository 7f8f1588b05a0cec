"""Errors in catalogs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..api.errors import FieldError


class CatalogError(ValueError):
    """An invalid catalog; one line with the entry, the field, the value and the remedy.

    place: the document's place, such as ``acme.yml, line 3``, "" if unknown. reason: the line without the place.
    """

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason = reason
        self.place = place


@contextmanager
def catalog_errors(place: str) -> Iterator[None]:
    """Turns errors of fields into errors of a catalog's entry. place: words for the entry, or the entry and its key."""
    try:
        yield
    except FieldError as error:
        raise CatalogError(f"{place}: {error}") from error
