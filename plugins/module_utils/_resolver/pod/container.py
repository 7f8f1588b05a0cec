"""The resources of a container of a pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .amounts import Amounts, amounts, texts


class Container(NamedTuple):
    """requests, limits: as KubeVirt writes them. claims: [{name, request}].
    restarts: a restartable init container, which runs beside the others.
    """

    name: str
    requests: Amounts
    limits: Amounts
    claims: tuple[dict[str, str], ...] = ()
    restarts: bool = False

    @property
    def stored(self) -> Amounts:
        """The requests as the API server stores them: a limit without a request becomes the request."""
        return {**self.limits, **self.requests}

    def manifest(self) -> dict[str, Any]:
        """{name, requests, limits, claims, restartPolicy}, without empty ones."""
        parts = {
            "name": self.name,
            "restartPolicy": "Always" if self.restarts else "",
            "requests": texts(self.requests),
            "limits": texts(self.limits),
            "claims": list(self.claims),
        }
        return {field: value for field, value in parts.items() if value}


def of_entry(entry: Mapping[str, Any]) -> Container:
    """The Container for an item of a Pod's containers or init containers. Raises QuantityError."""
    resources = entry.get("resources") or {}
    return Container(
        entry.get("name", ""),
        amounts(resources.get("requests")),
        amounts(resources.get("limits")),
        restarts=entry.get("restartPolicy") == "Always",
    )
