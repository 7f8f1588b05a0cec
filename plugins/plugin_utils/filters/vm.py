"""The filters of single VMs."""

from __future__ import annotations

from typing import Any

from .. import _vm_filters as vm_filters
from .._filters import boolean_option, choice, each, manifests, release_option, vm_filter
from .._manifest_checks import gated

expand = vm_filter("expand", vm_filters.expand)
explain = vm_filter("explain", vm_filters.explain, form=choice("data", "table"))


def drift(value: Any, current: Any, kubevirt_version: Any = None) -> Any:
    """See its documentation."""
    current_manifests = manifests("drift", "current", current)
    release = release_option("drift", kubevirt_version)
    return each("drift", value, lambda manifest: vm_filters.drift(manifest, current_manifests, release))


def infer(value: Any, objects: Any, kubevirt_version: Any = None, accept_unknown_fields: Any = False) -> Any:
    """See its documentation."""
    known_objects = manifests("infer", "objects", objects)
    release = release_option("infer", kubevirt_version)
    accept = boolean_option("accept_unknown_fields", "infer", accept_unknown_fields)
    return each("infer", value, lambda vm: vm_filters.infer(gated(vm, accept), known_objects, release))
