"""The filter modernize."""

from __future__ import annotations

from typing import Any

from ...module_utils._resolver.catalog import modernize as resolver
from .._filters import each, release_option


def modernize(value: Any, kubevirt_version: Any = None) -> Any:
    """See its documentation."""
    release = release_option("modernize", kubevirt_version)
    return each("modernize", value, lambda manifest: _plain(resolver.modernize(manifest, release)))


def _plain(result: resolver.Modernized) -> dict[str, Any]:
    return {
        "manifest": result.manifest,
        "changes": [change._asdict() for change in result.changes],
        "left": [left._asdict() for left in result.left],
    }
