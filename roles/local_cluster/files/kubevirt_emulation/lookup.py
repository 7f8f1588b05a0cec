"""Objects for the pure functions of `_resolver`: from the caches, from the API server where a cache has none.

The functions ask synchronously. So they are run, what they missed is fetched, and they are run again until nothing
is missing: an object that was created a moment ago counts, and a cache need not hold what is rarely asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, Callable, TypeVar

from _resolver.instancetype.find.lookup import Problem
from kubevirt_emulation.client import ApiError, Client
from kubevirt_emulation.informer import Informer
from kubevirt_emulation.resources import KINDS

Manifest = dict[str, Any]
Asked = tuple[str, str, str]  # kind, namespace, name
T = TypeVar("T")


class Lookup:
    """What `_resolver` looks objects up in; one for each computation. `extra` counts before the caches."""

    def __init__(self, caches: dict[str, Informer], fetched: dict[Asked, Manifest | Problem | None]) -> None:
        self._caches = caches
        self._fetched = fetched
        self.missing: set[Asked] = set()

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See `_resolver.instancetype.find.find.Lookup`."""
        if not name:
            # As KubeVirt's client says without asking the server.
            return Problem("resource name may not be empty")
        asked = kind, namespace if KINDS[kind].namespaced else "", name
        if asked in self._fetched:
            return self._fetched[asked]
        cache = self._caches.get(kind)
        cached = cache.get(asked[1:]) if cache is not None and not cache.is_behind(asked[1:]) else None
        if cached is not None:
            return cached
        self.missing.add(asked)
        return None


class Objects:
    """Runs computations that look objects up."""

    def __init__(self, caches: dict[str, Informer], clients: dict[str, Client], client: Client) -> None:
        """clients: for kinds that are read with other rights; client: for all the rest."""
        self._caches = caches
        self._clients = clients
        self._client = client

    async def resolve(self, compute: Callable[[Lookup], T], trusted: Collection[str] = ()) -> T:
        """The result of the computation, with everything it asks for.

        trusted: kinds of which the cache is taken at its word when it has no such object.
        """
        fetched: dict[Asked, Manifest | Problem | None] = {}
        while True:
            lookup = Lookup(self._caches, fetched)
            result = compute(lookup)
            missing = [asked for asked in lookup.missing if asked[0] not in trusted]
            if not missing:
                return result
            fetched.update(zip(missing, await asyncio.gather(*map(self._fetch, missing))))

    async def _fetch(self, asked: Asked) -> Manifest | Problem | None:
        kind, namespace, name = asked
        resource = KINDS[kind]
        try:
            return await self._clients.get(kind, self._client).get(resource, namespace, name)
        except ApiError as error:
            return None if error.code == 404 else Problem(str(error), error.reason, error.code)
