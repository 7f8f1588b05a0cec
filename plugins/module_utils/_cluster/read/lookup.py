"""Objects of the cluster for the resolver, read on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.declare.needs import Need, then
from ..._resolver.instancetype.find.lookup import Problem
from ..client.errors import ApiError, ConnectionFailed
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

    Call `gather` first for the expected objects; others are read on demand.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._objects: dict[tuple[str, str], dict[str, Manifest | None]] = {}
        self._listed: dict[tuple[str, str], Problem | None] = {}

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See find.Lookup. An object that cannot be read is a Problem with the remedy."""
        place = (kind, namespace if BY_NAME[kind].namespaced else "")
        known = self._objects.setdefault(place, {})
        if name in known:
            return known[name]
        if place not in self._listed and (kind in _LISTED or len(known) >= _SINGLE_READS):
            self._list(place)
        if place in self._listed:
            return self._listed[place] or self._objects[place].get(name)
        try:
            known[name] = self._session.get(BY_NAME[kind], namespace or None, name)
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
        with ThreadPoolExecutor(max_workers=_SIDE_BY_SIDE) as pool:
            for future in [pool.submit(job) for job in jobs]:
                future.result()

    def _seen(self, need: Need) -> Manifest | None:
        place = (need.kind, need.namespace if BY_NAME[need.kind].namespaced else "")
        return self._objects.get(place, {}).get(need.name)

    def list(self, kind: str, namespace: str) -> Iterable[Manifest]:
        """All objects of a kind in a namespace ("" for a cluster-wide kind); empty if they cannot be read."""
        place = (kind, namespace)
        if place not in self._listed:
            self._list(place)
        return [manifest for manifest in self._objects.get(place, {}).values() if manifest is not None]

    def problem(self, kind: str, namespace: str) -> Problem | None:
        """Why a list cannot be read, or None."""
        return self._listed.get((kind, namespace))

    def _list(self, place: tuple[str, str]) -> None:
        kind = BY_NAME[place[0]]
        try:
            items, _version = self._session.list(kind, place[1] or None)
        except ApiError as error:
            # If the API does not exist, for example without CDI, there are no such objects.
            missing = error.code == 404
            self._listed[place] = None if missing else problem(error, "LIST", kind)
        except ConnectionFailed as error:
            self._listed[place] = problem(error, "LIST", kind)
        else:
            self._listed[place] = None
            self._objects[place] = {item["metadata"]["name"]: item for item in items}
