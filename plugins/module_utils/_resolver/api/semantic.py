"""Equality of objects by meaning, as KubeVirt compares them (``equality.Semantic``): quantities by value."""

from __future__ import annotations

from typing import Any

from . import schema
from .quantity import parse


def equal(expression: str, one: Any, other: Any) -> bool:
    """Whether two canonical values of a schema type expression have the same meaning.

    ``4Gi`` equals ``4294967296``; an empty list or map equals an absent one (None), but an empty object does not.
    """
    expression = expression.lstrip("*").rstrip("!")
    if expression.startswith(("[]", "map[")) and not one and not other:
        return True
    if one is None or other is None:
        return one is other
    if expression.startswith("[]"):
        return len(one) == len(other) and all(equal(expression[2:], *pair) for pair in zip(one, other))
    if expression.startswith("map[string]"):
        value_type = expression[len("map[string]") :]
        return one.keys() == other.keys() and all(equal(value_type, one[key], other[key]) for key in one)
    if expression in schema.TYPES:
        fields = schema.TYPES[expression]
        return all(equal(schema.field_type(fields[name]), one.get(name), other.get(name)) for name in {*one, *other})
    if expression == "Quantity":
        return parse(one).nanos == parse(other).nanos
    return bool(one == other)
