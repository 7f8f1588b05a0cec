"""Field by field difference of two objects."""

from __future__ import annotations

from typing import Any

__all__ = ["differences"]


def differences(before: Any, after: Any, path: str = "") -> list[dict[str, Any]]:
    """[{field, before, after}], None for what is not there; lists are compared as a whole, fields are in order."""
    if before == after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            change
            for key in sorted({*before, *after})
            for change in differences(before.get(key), after.get(key), f"{path}.{key}" if path else key)
        ]
    return [{"field": path, "before": before, "after": after}]
