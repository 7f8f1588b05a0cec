"""The type of rules, and what they share: the causes that they return, amounts of resources, paths of files."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ...api import quantity
from ...api.quantity import Quantity
from ..vmi.cluster import KubeVirt
from ..webhooks.admission import INVALID, NOT_FOUND, NOT_SUPPORTED, REQUIRED, Cause

__all__ = [
    "DUPLICATE",
    "FORBIDDEN",
    "INVALID",
    "NOT_FOUND",
    "NOT_SUPPORTED",
    "REQUIRED",
    "Cause",
    "Rule",
    "Spec",
    "quoted",
]

DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"

Spec = dict[str, Any]
"""A canonical VMI spec, or a part of one: `domain`, `domain.devices` and `domain.resources` always exist."""

Rule = Callable[[Spec, str, KubeVirt], Iterable[Cause]]
"""(VMI spec with all defaults, path of that spec such as `spec.template.spec`, cluster's KubeVirt) → causes."""


def quoted(value: Any) -> str:
    """A value in a message of Kubernetes (field.Error)."""
    return json.dumps(value, ensure_ascii=False)


_NANOS_PER_MILLI: Final = 10**6


def amount(resources: dict[str, Any], field: str, name: str) -> Quantity:
    """The `requests` or `limits` (field) of `cpu` or `memory` (name); 0 if absent."""
    return quantity.parse((resources.get(field) or {}).get(name, "0"))


def millis(value: Quantity) -> int:
    """Thousandths, rounded away from zero (Quantity.MilliValue)."""
    size = -(-abs(value.nanos) // _NANOS_PER_MILLI)
    return size if value.nanos >= 0 else -size


def absolute_path(path: str, field: str) -> Iterator[Cause]:
    """storageadmitters.ValidatePath."""
    if path == "/":
        yield Cause(INVALID, f"{field} must not point to root", field)
    # Go's filepath.Join("/", path). Two leading slashes are special in POSIX and so in Python, but not in Go.
    elif posixpath.normpath("/" + path.lstrip("/")) != path.removesuffix("/"):
        message = f"{field} must be an absolute path to a file without relative components"
        yield Cause(INVALID, message, field)
