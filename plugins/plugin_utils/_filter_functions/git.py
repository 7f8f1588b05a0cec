"""The filter ignore_differences: what Argo CD should not revert."""

from __future__ import annotations

from typing import Any

from ...module_utils._git.ignored_differences import ignored_differences
from .._manifest_checks import gated
from ._shared import check_option, each, manifests, of_type


def ignore_differences(value: Any, power: Any = True) -> list[dict[str, Any]]:
    """See its documentation."""
    check_option("power", power, of_type(bool, "true or false"))
    vms = [manifest for manifest in manifests("the input", value) if manifest.get("kind") == "VirtualMachine"]
    return ignored_differences(each(vms, lambda vm: gated(vm, accept_unknown=True)), power)
