"""Adds governance to the filter catalog: the limits of namespaces."""

from __future__ import annotations

from typing import Any

from ...module_utils._governance.language import Limit, limit_from_data
from ...module_utils._governance.language import limits as parse
from ...module_utils._resolver.api.manifest import Manifest


def limit_columns(written: Any, returned: Any, objects: list[Manifest]) -> list[Limit]:
    """The limits that a user wrote; without any, the limits that catalog_info returned.

    objects: the catalog. Raises CatalogError for invalid limits of a user, TypeError if no module returns such limits.
    """
    if written:
        return parse(written, objects)
    limits = [limit_from_data(limit) for limit in returned or []]
    if None in limits:
        raise TypeError("limits")
    return [limit for limit in limits if limit is not None]
