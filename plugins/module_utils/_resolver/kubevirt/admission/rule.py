"""The common parts of rules: their type, causes, feature gates, items of lists, amounts, paths of files."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

from ...api import quantity
from ...api.errors import Cause
from ...api.quantity import Quantity
from ..config.cluster import KubeVirt
from ..webhooks.response import INVALID, NOT_FOUND, NOT_SUPPORTED, REQUIRED

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

AMD64: Final = "amd64"
ARM64: Final = "arm64"
S390X: Final = "s390x"

Spec = dict[str, Any]
"""A canonical VMI spec, or a part of one: `domain`, `domain.devices` and `domain.resources` always exist."""

Rule = Callable[[Spec, str, KubeVirt], Iterable[Cause]]
"""(VMI spec with all defaults, path of that spec such as `spec.template.spec`, cluster's KubeVirt) → causes."""


def not_enabled(gate: str) -> str:
    """KubeVirt's message about a closed feature gate, by its name or in words."""
    return f"{gate} feature gate is not enabled in kubevirt-config"


def gated(gate: str, field: str, message: str, named: str = "") -> Rule:
    """A rule: a field of the VMI spec needs a feature gate. named: the field in the cause, if it is not the same."""
    *parents, last = field.split(".")

    def rule(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterable[Cause]:
        holder: Any = spec
        for key in parents:
            holder = holder.get(key) or {}
        if holder.get(last) in (None, False):
            return ()
        return () if kubevirt.has_gate(gate) else (Cause(INVALID, message, f"{path}.{named or field}"),)

    return rule


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


def quoted(value: Any) -> str:
    """A value in a message of Kubernetes (field.Error)."""
    return json.dumps(value, ensure_ascii=False)


def amount(resources: dict[str, Any], field: str, name: str) -> Quantity:
    """The `requests` or `limits` (field) of `cpu` or `memory` (name); 0 if absent."""
    return quantity.parse((resources.get(field) or {}).get(name, "0"))


def absolute_path(path: str, field: str) -> Iterator[Cause]:
    """storageadmitters.ValidatePath."""
    if path == "/":
        yield Cause(INVALID, f"{field} must not point to root", field)
    # Go's filepath.Join("/", path). Two leading slashes are special in POSIX and so in Python, but not in Go.
    elif posixpath.normpath("/" + path.lstrip("/")) != path.removesuffix("/"):
        message = f"{field} must be an absolute path to a file without relative components"
        yield Cause(INVALID, message, field)
