"""Measured use of VMs, from the answers of Prometheus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import quoted
from .._resolver.api.tree import value_at

_RESOURCES: Final = ("cpu", "memory")


def use_of(answer: Any) -> dict[str, dict[str, float]]:
    """NAMESPACE/NAME → {cpu, memory}, vCPUs and bytes, of an answer whose series have the label `resource`.

    If a VM has several series, such as one for each node, the largest counts. Raises FieldError.
    """
    series = value_at(answer, ("data", "result"))
    if not isinstance(series, list):
        raise FieldError("use", "is no answer of Prometheus; save what /api/v1/query returns")
    found: dict[str, dict[str, float]] = {}
    for index, item in enumerate(series):
        place = f"use.data.result[{index}]"
        labels = value_at(item, ("metric",))
        if value_at(labels, ("resource",)) not in _RESOURCES:
            raise FieldError(place, "has no label resource with cpu or memory; use the query of the documentation")
        try:
            amount = float(item["value"][1])
        except (TypeError, ValueError, IndexError, KeyError):
            problem = f"{quoted(item.get('value'))} has no number; use /api/v1/query"
            raise FieldError(f"{place}.value", problem) from None
        if 0 <= amount < float("inf"):
            largest = found.setdefault(f"{labels.get('namespace', '')}/{labels.get('name', '')}", {})
            largest[labels["resource"]] = max(amount, largest.get(labels["resource"], 0))
    return found


def with_use(machines: Sequence[Mapping[str, Any]], used: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """The machines with what they use, by their ids; the others are unchanged."""
    return [{**item, "used": {**item.get("used", {}), **used.get(str(item.get("id")), {})}} for item in machines]
