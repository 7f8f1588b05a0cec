"""Objects as they are now: a request for a subresource decides by what the API server has, not by a cache."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.client import ApiError, Client
from kubevirt_emulation.resources import Resource

Manifest = dict[str, Any]


async def get(client: Client, resource: Resource, namespace: str, name: str) -> Manifest | None:
    """The object, or None if there is none."""
    try:
        return await client.get(resource, namespace, name)
    except ApiError as error:
        if error.code == 404:
            return None
        raise
