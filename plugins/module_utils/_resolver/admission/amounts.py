"""Amounts of resources, as Go's resource.Quantity returns them."""

from __future__ import annotations

from typing import Any, Final

from ..api import quantity
from ..api.quantity import Quantity

_NANOS_PER_MILLI: Final = 10**6


def amount(resources: dict[str, Any], field: str, name: str) -> Quantity:
    """The `requests` or `limits` (field) of `cpu` or `memory` (name); 0 if absent."""
    return quantity.parse((resources.get(field) or {}).get(name, "0"))


def millis(found: Quantity) -> int:
    """Thousandths, rounded away from zero (Quantity.MilliValue)."""
    size = -(-abs(found.nanos) // _NANOS_PER_MILLI)
    return size if found.nanos >= 0 else -size
