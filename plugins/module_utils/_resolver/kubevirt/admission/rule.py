"""The common parts of rules: their type, items of lists, amounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final

from ...api import quantity
from ...api.errors import Cause
from ...api.quantity import Quantity
from ..cluster import KubeVirt
from .response import INVALID

__all__ = ["INVALID", "Cause"]

AMD64: Final = "amd64"
ARM64: Final = "arm64"
S390X: Final = "s390x"

Spec = dict[str, Any]
"""A canonical VMI spec, or a part of one: `domain`, `domain.devices` and `domain.resources` always exist."""

Rule = Callable[[Spec, str, KubeVirt], Iterable[Cause]]
"""(VMI spec with all defaults, path of that spec such as `spec.template.spec`, cluster's KubeVirt) → causes."""


def items(spec: Spec, path: str, field: str) -> Sequence[tuple[Spec, str]]:
    """The items of a list in a VMI spec, each with its path. field: such as `domain.devices.disks`."""
    found: Any = spec
    for key in _keys(field):
        found = found.get(key)
        if not found:
            return ()
    return [(item, f"{path}.{field}[{index}]") for index, item in enumerate(found)]


@cache
def _keys(field: str) -> tuple[str, ...]:
    return tuple(field.split("."))


def amount(resources: dict[str, Any], field: str, name: str) -> Quantity:
    """The `requests` or `limits` (field) of `cpu` or `memory` (name); 0 if absent."""
    return quantity.parse((resources.get(field) or {}).get(name, "0"))
