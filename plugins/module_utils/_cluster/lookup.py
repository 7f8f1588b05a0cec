"""Objects of the cluster for the resolver's questions, read when they are first asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._resolver.find import Problem
from .errors import ApiError, ConnectionFailed, explain
from .kinds import BY_NAME, Kind
from .session import Session

__all__ = ["ClusterLookup"]

Manifest = dict[str, Any]

# Small in number and asked for by everybody: read whole at once.
_LISTED = frozenset(name for name in BY_NAME if name.endswith(("Instancetype", "Preference")))
# From so many single reads of a kind and namespace on, its whole list costs less.
_SINGLE_READS = 3


class ClusterLookup:
    """A find.Lookup in front of an API server: few GETs, then one LIST, for each kind and namespace."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._objects: dict[tuple[str, str], dict[str, Manifest | None]] = {}
        self._listed: dict[tuple[str, str], Problem | None] = {}

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See find.Lookup. What cannot be read is a Problem with the remedy."""
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
            return _problem(error, "GET", BY_NAME[kind])
        return known[name]

    def list(self, kind: str, namespace: str) -> Iterable[Manifest]:
        """All objects of a kind in a namespace ("" for a cluster-wide kind); none where they cannot be read."""
        place = (kind, namespace)
        if place not in self._listed:
            self._list(place)
        return [manifest for manifest in self._objects.get(place, {}).values() if manifest is not None]

    def problem(self, kind: str, namespace: str) -> Problem | None:
        """Why a list could not be read."""
        return self._listed.get((kind, namespace))

    def _list(self, place: tuple[str, str]) -> None:
        kind = BY_NAME[place[0]]
        try:
            items, _version = self._session.list(kind, place[1] or None)
        except ApiError as error:
            # Without such an API, as without CDI, there are no such objects.
            missing = error.code == 404
            self._listed[place] = None if missing else _problem(error, "LIST", kind)
        except ConnectionFailed as error:
            self._listed[place] = _problem(error, "LIST", kind)
        else:
            self._listed[place] = None
            self._objects[place] = {item["metadata"]["name"]: item for item in items}


def _problem(error: ApiError | ConnectionFailed, verb: str, kind: Kind) -> Problem:
    code = error.code if isinstance(error, ApiError) else 503
    reason = error.reason if isinstance(error, ApiError) else "ServiceUnavailable"
    return Problem(explain(error, verb, kind), reason, code)
