"""The filter infer."""

from __future__ import annotations

from typing import Any

from .. import _vm_filters as vm_filters
from .._filters import boolean_option, each, manifests, release_option
from .._manifest_checks import gated


def infer(value: Any, objects: Any, kubevirt_version: Any = None, accept_unknown_fields: Any = False) -> Any:
    """See its documentation."""
    known_objects = manifests("infer", "objects", objects)
    release = release_option("infer", kubevirt_version)
    accept = boolean_option("accept_unknown_fields", "infer", accept_unknown_fields)
    return each("infer", value, lambda vm: vm_filters.infer(gated(vm, accept), known_objects, release))
