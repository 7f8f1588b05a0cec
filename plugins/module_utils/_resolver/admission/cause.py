"""The causes that rules return, and their types in KubeVirt's API."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..instancetype.webhooks.admission import INVALID, NOT_FOUND, NOT_SUPPORTED, REQUIRED, Cause
from .cluster import Cluster

__all__ = ["DUPLICATE", "FORBIDDEN", "INVALID", "NOT_FOUND", "NOT_SUPPORTED", "REQUIRED", "Cause", "Rule", "Spec"]

DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"

Spec = dict[str, Any]
"""A canonical VMI spec, or a part of one: `domain`, `domain.devices` and `domain.resources` always exist."""

Rule = Callable[[Spec, str, Cluster], Iterable[Cause]]
"""(VMI spec with all defaults, path of that spec such as `spec.template.spec`, cluster) → causes."""
