"""Measured use of VMs, from the answers of Prometheus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import quoted

_RESOURCES: Final = ("cpu", "memory")
_SHARE: Final = 95


def use_of(answer: Any) -> dict[str, dict[str, float]]:
    """NAMESPACE/NAME → {cpu, memory}, vCPUs and bytes, of an answer whose series have the label `resource`.

    A series of a range counts with the value that 95 % of its samples do not exceed. Raises FieldError.
    """
    data = answer.get("data") if isinstance(answer, Mapping) else None
    series = data.get("result") if isinstance(data, Mapping) else None
    if not isinstance(series, Sequence) or isinstance(series, str):
        raise FieldError("use", "is no answer of Prometheus; save what /api/v1/query returns")
    found: dict[str, dict[str, float]] = {}
    for index, item in enumerate(series):
        place = f"use.data.result[{index}]"
        labels = item.get("metric") if isinstance(item, Mapping) else None
        if not isinstance(labels, Mapping) or labels.get("resource") not in _RESOURCES:
            raise FieldError(place, "has no label resource with cpu or memory; use the query of the documentation")
        key = f"{labels.get('namespace', '')}/{labels.get('name', '')}"
        values = [entry[1] for entry in item.get("values") or [item.get("value") or (0, None)]]
        try:
            numbers = sorted(float(value) for value in values)
        except (TypeError, ValueError):
            raise FieldError(place, f"{quoted(values[0])} is not a number") from None
        # The nearest rank, so that a value that was measured is the answer.
        rank = -(-len(numbers) * _SHARE // 100)
        amount = numbers[rank - 1]
        if not 0 <= amount < float("inf"):
            continue
        by_resource = found.setdefault(key, {})
        resource = labels["resource"]
        by_resource[resource] = max(amount, by_resource.get(resource, 0))
    return found


def with_use(machines: Sequence[Mapping[str, Any]], used: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """The machines with what they use, by their ids; the others are unchanged."""
    return [{**item, "used": {**item.get("used", {}), **used.get(str(item.get("id")), {})}} for item in machines]
