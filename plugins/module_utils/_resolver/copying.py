"""Copies of plain JSON values."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["copy"]

T = TypeVar("T")


def copy(value: T) -> T:
    """A deep copy of a JSON value, several times as fast as copy.deepcopy."""
    if isinstance(value, dict):
        return {key: copy(entry) for key, entry in value.items()}  # type: ignore[return-value]
    if isinstance(value, list):
        return [copy(entry) for entry in value]  # type: ignore[return-value]
    return value
