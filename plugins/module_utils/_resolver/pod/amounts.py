"""Amounts of resources: quantities by resource name, as in requests and limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..api.quantity import Quantity, add, parse

Amounts = dict[str, Quantity]


def amounts(texts: Mapping[str, Any] | None) -> Amounts:
    """Parses quantities by resource name. Raises QuantityError."""
    return {name: parse(str(text)) for name, text in (texts or {}).items()}


def own(spec: Mapping[str, Any], kind: str) -> Amounts:
    """A VMI's own resources. kind: requests or limits."""
    return amounts(spec["domain"]["resources"].get(kind))


def add_to(amounts: Amounts, name: str, more: Quantity) -> None:
    """Adds to a resource."""
    amounts[name] = add(amounts[name], more) if name in amounts else more


def total(*parts: Amounts) -> Amounts:
    """The sum of each resource."""
    result: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            add_to(result, name, amount)
    return result


def maximum(*parts: Amounts) -> Amounts:
    """The largest amount of each resource."""
    result: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            if name not in result or amount.nanos > result[name].nanos:
                result[name] = amount
    return result


def texts(amounts: Amounts) -> dict[str, str]:
    """The canonical text of each amount."""
    return {name: amount.text for name, amount in amounts.items()}
