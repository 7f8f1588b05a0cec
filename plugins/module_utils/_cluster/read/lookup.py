"""Objects of the cluster for the resolver, read on first use, or for many namespaces at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ..._resolver.api.kinds import BY_NAME, EXISTING, Kind
from ..._resolver.kubevirt.find.lookup import Problem
from ..._resolver.preflight.object_keys import LookupKey, further_keys
from ..client.errors import ApiError, RequestFailed
from ..client.pool import map_concurrently
from ..client.session import Session

Manifest = dict[str, Any]


def _problem(error: RequestFailed) -> Problem:
    """The Problem to return instead of an object that cannot be read."""
    return Problem(str(error), error.reason, error.code)


# Few objects that many questions need: list them at once.
_LISTED = frozenset(name for name in BY_NAME if name.endswith(("Instancetype", "Preference")))
# From this number of single reads of a kind and namespace, one LIST costs less.
_SINGLE_READS = 3


class ClusterLookup:
    """A find.Lookup on an API server: few GETs, or one LIST, for each kind and namespace.

    Call `gather` first for the expected objects; others are read on demand. Threads may share it. Of objects that
    matter only by their existence it reads the metadata.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        # What was read alone, and the lists or why they cannot be read.
        self._objects: dict[tuple[str, str], dict[str, Manifest | None]] = {}
        self._listed: dict[tuple[str, str], dict[str, Manifest] | Problem] = {}
        self._locks: dict[tuple[str, str], threading.Lock] = {}

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See find.Lookup. An object that cannot be read is a Problem with the remedy."""
        collection = (kind, namespace if BY_NAME[kind].namespaced else "")
        single = self._objects.setdefault(collection, {})
        if name in single:
            return single[name]
        if collection not in self._listed and (kind in _LISTED or len(single) >= _SINGLE_READS):
            self._list(collection)
        if collection in self._listed:
            listed = self._listed[collection]
            return listed if isinstance(listed, Problem) else listed.get(name)
        try:
            single[name] = self._session.get(BY_NAME[kind], namespace or None, name, kind in EXISTING)
        except RequestFailed as error:
            return _problem(error)
        return single[name]

    def gather(self, keys: Iterable[LookupKey]) -> None:
        """Reads these objects and those to which they refer, concurrently. `get` then needs no request."""
        pending, gathered = list(keys), set(keys)
        while pending:
            self._read(pending)
            after = [more for key in pending for more in further_keys(key, self._cached(key))]
            pending = [key for key in dict.fromkeys(after) if key not in gathered]
            gathered.update(pending)

    def _read(self, keys: Iterable[LookupKey]) -> None:
        collections: dict[tuple[str, str], set[str]] = {}
        for key in keys:
            collection = (key.kind, key.namespace if BY_NAME[key.kind].namespaced else "")
            if collection not in self._listed and key.name not in self._objects.get(collection, ()):
                collections.setdefault(collection, set()).add(key.name)
        jobs: list[Callable[[], Any]] = []
        for collection, names in collections.items():
            single = self._objects.setdefault(collection, {})
            if collection[0] in _LISTED or len(single) + len(names) > _SINGLE_READS:
                jobs.append(partial(self._list, collection))
            else:
                jobs += [partial(self.get, *collection, name) for name in sorted(names)]
        map_concurrently(lambda job: job(), jobs)

    def _cached(self, key: LookupKey) -> Manifest | None:
        collection = (key.kind, key.namespace if BY_NAME[key.kind].namespaced else "")
        listed = self._listed.get(collection)
        return listed.get(key.name) if isinstance(listed, dict) else self._objects.get(collection, {}).get(key.name)

    def list(self, kind: str, namespace: str) -> Iterable[Manifest]:
        """All objects of a kind in a namespace ("" for a cluster-wide kind); empty if they cannot be read."""
        collection = (kind, namespace)
        if collection not in self._listed:
            self._list(collection)
        listed = self._listed[collection]
        return list(listed.values()) if isinstance(listed, dict) else []

    def problem(self, kind: str, namespace: str) -> Problem | None:
        """Why a list cannot be read, or None."""
        listed = self._listed.get((kind, namespace))
        return listed if isinstance(listed, Problem) else None

    def _list(self, collection: tuple[str, str]) -> None:
        # One thread asks, and the others wait for its answer.
        with self._locks.setdefault(collection, threading.Lock()):
            if collection not in self._listed:
                self._listed[collection] = self._list_or_problem(BY_NAME[collection[0]], collection[1])

    def _list_or_problem(self, kind: Kind, namespace: str) -> dict[str, Manifest] | Problem:
        try:
            items = self._session.list(kind, namespace or None, kind.kind in EXISTING)
        except RequestFailed as error:
            # If the API does not exist, for example without CDI, there are no such objects.
            return {} if error.code == 404 else _problem(error)
        return {item["metadata"]["name"]: item for item in items}


class ListLookup:
    """A find.Lookup over many namespaces: one LIST for each kind.

    If the user may not list a kind in all namespaces, it is listed in each requested namespace. A missing permission is
    a Problem; other errors raise RequestFailed.
    """

    def __init__(self, session: Session, *, everywhere: bool) -> None:
        """everywhere: try all namespaces at once first."""
        self._session = session
        self._everywhere = everywhere
        self._answers: dict[tuple[str, str | None], dict[str, dict[str, Manifest]] | Problem] = {}
        self.problems: dict[str, Problem] = {}
        """Kind → why it could not be listed, in the first such namespace."""

    def gather(self, collections: Iterable[tuple[str, str]]) -> None:
        """Lists kinds in namespaces concurrently; later calls need no request."""
        first = dict.fromkeys((kind, self._first(kind, namespace)) for kind, namespace in collections)
        map_concurrently(lambda collection: self._list_objects(*collection), first)

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See find.Lookup."""
        listed = self._in(kind, namespace)
        return listed if isinstance(listed, Problem) else listed.get(name)

    def list(self, kind: str, namespace: str) -> list[Manifest]:
        """The objects of a kind in a namespace ("" for a cluster-wide kind); empty if the user may not list them."""
        listed = self._in(kind, namespace)
        return [] if isinstance(listed, Problem) else list(listed.values())

    def _in(self, kind: str, namespace: str) -> dict[str, Manifest] | Problem:
        namespaced = BY_NAME[kind].namespaced
        first = self._first(kind, namespace)
        objects = self._list_objects(kind, first)
        if isinstance(objects, Problem) and first is None and namespaced:
            objects = self._list_objects(kind, namespace)
        if isinstance(objects, Problem):
            return self.problems.setdefault(kind, objects)
        return objects.get(namespace if namespaced else "", {})

    def _first(self, kind: str, namespace: str) -> str | None:
        """The namespace to list first; None for all at once."""
        return None if self._everywhere or not BY_NAME[kind].namespaced else namespace

    def _list_objects(self, kind: str, namespace: str | None) -> dict[str, dict[str, Manifest]] | Problem:
        """The objects by namespace and name."""
        collection = (kind, namespace)
        if collection not in self._answers:
            try:
                items = self._session.list(BY_NAME[kind], namespace)
            except ApiError as error:
                if error.code not in (403, 404):
                    raise
                # If the API does not exist, for example without CDI, there are no such objects.
                self._answers[collection] = {} if error.code == 404 else _problem(error)
            else:
                objects: dict[str, dict[str, Manifest]] = {}
                for item in items:
                    metadata = item["metadata"]
                    objects.setdefault(metadata.get("namespace", ""), {})[metadata["name"]] = item
                self._answers[collection] = objects
        return self._answers[collection]
