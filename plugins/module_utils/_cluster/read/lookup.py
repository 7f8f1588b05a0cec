"""Objects of the cluster for the resolver, read on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ..._resolver.api.kinds import BY_NAME, EXISTING, Kind
from ..._resolver.declare.needs import Need, then
from ..._resolver.instancetype.find.lookup import Problem
from ..client.errors import ApiError, ConnectionFailed
from ..client.pool import each
from ..client.session import Session
from .problem import problem

Manifest = dict[str, Any]

# Few objects that many questions need: list them at once.
_LISTED = frozenset(name for name in BY_NAME if name.endswith(("Instancetype", "Preference")))
# From this number of single reads of a kind and namespace, one LIST costs less.
_SINGLE_READS = 3
_SIDE_BY_SIDE = 8


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
        place = (kind, namespace if BY_NAME[kind].namespaced else "")
        known = self._objects.setdefault(place, {})
        if name in known:
            return known[name]
        if place not in self._listed and (kind in _LISTED or len(known) >= _SINGLE_READS):
            self._list(place)
        if place in self._listed:
            found = self._listed[place]
            return found if isinstance(found, Problem) else found.get(name)
        try:
            known[name] = self._session.get(BY_NAME[kind], namespace or None, name, kind in EXISTING)
        except (ApiError, ConnectionFailed) as error:
            return problem(error, "GET", BY_NAME[kind])
        return known[name]

    def gather(self, wanted: Iterable[Need]) -> None:
        """Reads the wanted objects, and the objects to which they refer, concurrently. `get` then needs no request."""
        due, known = list(wanted), set(wanted)
        while due:
            self._read(due)
            after = [more for need in due for more in then(need, self._seen(need))]
            due = [need for need in dict.fromkeys(after) if need not in known]
            known.update(due)

    def _read(self, due: Iterable[Need]) -> None:
        places: dict[tuple[str, str], set[str]] = {}
        for need in due:
            place = (need.kind, need.namespace if BY_NAME[need.kind].namespaced else "")
            if place not in self._listed and need.name not in self._objects.get(place, ()):
                places.setdefault(place, set()).add(need.name)
        jobs: list[Callable[[], Any]] = []
        for place, names in places.items():
            known = self._objects.setdefault(place, {})
            if place[0] in _LISTED or len(known) + len(names) > _SINGLE_READS:
                jobs.append(partial(self._list, place))
            else:
                jobs += [partial(self.get, *place, name) for name in sorted(names)]
        each(lambda job: job(), jobs, _SIDE_BY_SIDE)

    def _seen(self, need: Need) -> Manifest | None:
        place = (need.kind, need.namespace if BY_NAME[need.kind].namespaced else "")
        found = self._listed.get(place)
        return found.get(need.name) if isinstance(found, dict) else self._objects.get(place, {}).get(need.name)

    def list(self, kind: str, namespace: str) -> Iterable[Manifest]:
        """All objects of a kind in a namespace ("" for a cluster-wide kind); empty if they cannot be read."""
        place = (kind, namespace)
        if place not in self._listed:
            self._list(place)
        found = self._listed[place]
        return list(found.values()) if isinstance(found, dict) else []

    def problem(self, kind: str, namespace: str) -> Problem | None:
        """Why a list cannot be read, or None."""
        found = self._listed.get((kind, namespace))
        return found if isinstance(found, Problem) else None

    def _list(self, place: tuple[str, str]) -> None:
        # One thread asks, and the others wait for its answer.
        with self._locks.setdefault(place, threading.Lock()):
            if place not in self._listed:
                self._listed[place] = self._answer(BY_NAME[place[0]], place[1])

    def _answer(self, kind: Kind, namespace: str) -> dict[str, Manifest] | Problem:
        try:
            items, _version = self._session.list(kind, namespace or None, kind.kind in EXISTING)
        except (ApiError, ConnectionFailed) as error:
            # If the API does not exist, for example without CDI, there are no such objects.
            missing = isinstance(error, ApiError) and error.code == 404
            return {} if missing else problem(error, "LIST", kind)
        return {item["metadata"]["name"]: item for item in items}
