"""Objects of many namespaces for the resolver."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.instancetype.find.lookup import Problem
from ..client.errors import ApiError
from ..client.pool import each
from ..client.session import Session
from .problem import problem

Manifest = dict[str, Any]

_SIDE_BY_SIDE = 8


class WideLookup:
    """A find.Lookup over many namespaces: one LIST for each kind.

    If the user may not list a kind in all namespaces, it is listed in each requested namespace. A missing permission is
    a Problem; other errors raise ApiError or ConnectionFailed.
    """

    def __init__(self, session: Session, *, everywhere: bool) -> None:
        """everywhere: try all namespaces at once first."""
        self._session = session
        self._everywhere = everywhere
        self._answers: dict[tuple[str, str | None], dict[str, dict[str, Manifest]] | Problem] = {}
        self.problems: dict[str, Problem] = {}
        """Kind → why it could not be listed, in the first such namespace."""

    def gather(self, places: Iterable[tuple[str, str]]) -> None:
        """Lists kinds in namespaces concurrently; later calls need no request."""
        first = dict.fromkeys((kind, self._first(kind, namespace)) for kind, namespace in places)
        each(lambda place: self._ask(*place), first, _SIDE_BY_SIDE)

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See find.Lookup."""
        found = self._in(kind, namespace)
        return found if isinstance(found, Problem) else found.get(name)

    def list(self, kind: str, namespace: str) -> list[Manifest]:
        """The objects of a kind in a namespace ("" for a cluster-wide kind); empty if the user may not list them."""
        found = self._in(kind, namespace)
        return [] if isinstance(found, Problem) else list(found.values())

    def _in(self, kind: str, namespace: str) -> dict[str, Manifest] | Problem:
        namespaced = BY_NAME[kind].namespaced
        first = self._first(kind, namespace)
        answer = self._ask(kind, first)
        if isinstance(answer, Problem) and first is None and namespaced:
            answer = self._ask(kind, namespace)
        if isinstance(answer, Problem):
            return self.problems.setdefault(kind, answer)
        return answer.get(namespace if namespaced else "", {})

    def _first(self, kind: str, namespace: str) -> str | None:
        """The namespace to list first; None for all at once."""
        return None if self._everywhere or not BY_NAME[kind].namespaced else namespace

    def _ask(self, kind: str, namespace: str | None) -> dict[str, dict[str, Manifest]] | Problem:
        """The objects by namespace and name."""
        place = (kind, namespace)
        if place not in self._answers:
            try:
                items, _version = self._session.list(BY_NAME[kind], namespace)
            except ApiError as error:
                if error.code not in (403, 404):
                    raise
                # If the API does not exist, for example without CDI, there are no such objects.
                self._answers[place] = {} if error.code == 404 else problem(error, "LIST", BY_NAME[kind])
            else:
                found: dict[str, dict[str, Manifest]] = {}
                for item in items:
                    metadata = item["metadata"]
                    found.setdefault(metadata.get("namespace", ""), {})[metadata["name"]] = item
                self._answers[place] = found
        return self._answers[place]
