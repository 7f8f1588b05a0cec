"""Equality of objects by meaning, as KubeVirt compares them (``equality.Semantic``): quantities by value."""

from __future__ import annotations

from typing import Any

from . import schema
from .quantity import parse


def equal(expression: str, left: Any, right: Any) -> bool:
    """Whether two canonical values of a schema type expression have the same meaning.

    ``4Gi`` equals ``4294967296``; an empty list or map equals an absent one (None), but an empty object does not.
    """
    expression = expression.lstrip("*").rstrip("!")
    if expression.startswith(("[]", "map[")) and not left and not right:
        return True
    if left is None or right is None:
        return left is right
    if expression.startswith("[]"):
        return len(left) == len(right) and all(equal(expression[2:], *pair) for pair in zip(left, right))
    if expression.startswith("map[string]"):
        value_type = expression[len("map[string]") :]
        return left.keys() == right.keys() and all(equal(value_type, left[key], right[key]) for key in left)
    if expression in schema.TYPES:
        fields = schema.TYPES[expression]
        return all(equal(schema.field_type(fields[name]), left.get(name), right.get(name)) for name in {*left, *right})
    if expression == "Quantity":
        return parse(left).nanos == parse(right).nanos
    return bool(left == right)
