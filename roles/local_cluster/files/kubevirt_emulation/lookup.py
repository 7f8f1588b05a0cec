"""Objects for the pure functions of `_resolver`: from the caches, and from the API server if a cache lacks one.

The functions are synchronous. So they run, missing objects are fetched, and they run again until nothing is missing.
Therefore objects that were just created count, and caches need not hold rarely needed kinds.
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
    """The Lookup of one computation for `_resolver`. `extra` overrides the caches."""

    def __init__(self, caches: dict[str, Informer], fetched: dict[Asked, Manifest | Problem | None]) -> None:
        self._caches = caches
        self._fetched = fetched
        self.missing: set[Asked] = set()

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See `_resolver.instancetype.find.find.Lookup`."""
        if not name:
            # KubeVirt's client says this without asking the server.
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
    """Runs computations that look up objects."""

    def __init__(self, caches: dict[str, Informer], clients: dict[str, Client], client: Client) -> None:
        """clients: for kinds that need other credentials. client: for all others."""
        self._caches = caches
        self._clients = clients
        self._client = client

    async def resolve(self, compute: Callable[[Lookup], T], trusted: Collection[str] = ()) -> T:
        """The result of the computation, with all objects that it needs.

        trusted: kinds for which an object that is not in the cache does not exist.
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
