"""The filter drift."""

from __future__ import annotations

from typing import Any

from .. import _vm_filters as vm_filters
from .._filters import each, manifests, release_option


def drift(value: Any, current: Any, kubevirt_version: Any = None) -> Any:
    """See its documentation."""
    current_manifests = manifests("drift", "current", current)
    release = release_option("drift", kubevirt_version)
    return each("drift", value, lambda manifest: vm_filters.drift(manifest, current_manifests, release))
