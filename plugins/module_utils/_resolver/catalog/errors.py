"""The error of catalogs."""

from __future__ import annotations


class CatalogError(ValueError):
    """An invalid catalog; one line with the entry, the field, the value and the remedy."""
