"""Current objects: subresources read from the API server, not from a cache."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.client import ApiError, Client
from kubevirt_emulation.resources import Resource

Manifest = dict[str, Any]


async def get(client: Client, resource: Resource, namespace: str, name: str) -> Manifest | None:
    """The object, or None if it does not exist."""
    try:
        return await client.get(resource, namespace, name)
    except ApiError as error:
        if error.code == 404:
            return None
        raise
