"""The causes that rules return, and their types in KubeVirt's API."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from ..instancetype.webhooks.admission import INVALID, NOT_FOUND, NOT_SUPPORTED, REQUIRED, Cause
from .cluster import Cluster

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

Rule = Callable[[Spec, str, Cluster], Iterable[Cause]]
"""(VMI spec with all defaults, path of that spec such as `spec.template.spec`, cluster) → causes."""


def quoted(value: Any) -> str:
    """A value in a message of Kubernetes (field.Error)."""
    return json.dumps(value, ensure_ascii=False)
