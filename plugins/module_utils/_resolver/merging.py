"""Merges parts of a manifest that come from different options."""

from __future__ import annotations

from typing import Any

from .copying import copy
from .schema import FieldError

__all__ = ["merge"]


def merge(target: dict[str, Any], addition: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Adds to target (changed and returned) what it does not have; lists are joined, objects merged.

    Raises FieldError where both say something different about the same field.
    """
    for key, value in addition.items():
        here = f"{path}.{key}" if path else key
        if key not in target or target[key] is None:
            target[key] = copy(value)
        elif isinstance(target[key], dict) and isinstance(value, dict):
            merge(target[key], value, here)
        elif isinstance(target[key], list) and isinstance(value, list):
            target[key] += copy(value)
        elif value is not None and target[key] != value:
            raise FieldError(here, f"is given twice, as {target[key]!r} and as {value!r}; keep one of them")
    return target
