"""What is wrong with a catalog."""

from __future__ import annotations


class CatalogError(ValueError):
    """A catalog that does not work out; one line with the entry, the field, the value and what to do."""
