"""The live objects: one LIST for each kind and namespace, however many objects are requested."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..._resolver.api.kinds import BY_NAME, Kind
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.pool import each
from ..client.session import Session

_SIDE_BY_SIDE = 8


class Key(NamedTuple):
    """Identifies an object; namespace is None for cluster-wide kinds."""

    kind: str
    namespace: str | None
    name: str


class Unreadable(Exception):
    """A kind cannot be read; the text is one line with the remedy."""


def read(session: Session, keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
    """The live objects with these keys. A single key of a kind and namespace is one GET."""
    wanted: dict[tuple[Kind, str | None], set[str]] = {}
    for key in keys:
        wanted.setdefault((BY_NAME[key.kind], key.namespace), set()).add(key.name)
    found: dict[Key, dict[str, Any]] = {}
    lists = each(lambda place: _read_kind(session, place[0], place[1], wanted[place]), wanted, _SIDE_BY_SIDE)
    for (kind, namespace), items in zip(wanted, lists):
        found.update({Key(kind.kind, namespace, item["metadata"]["name"]): item for item in items})
    return found


def _read_kind(session: Session, kind: Kind, namespace: str | None, names: set[str]) -> list[dict[str, Any]]:
    verb = "GET" if len(names) == 1 else "LIST"
    try:
        if verb == "GET":
            item = session.get(kind, namespace, next(iter(names)))
            return [item] if item is not None else []
        items, _version = session.list(kind, namespace)
    except (ApiError, ConnectionFailed) as error:
        raise Unreadable(explain(error, verb, kind)) from error
    return [item for item in items if item["metadata"]["name"] in names]
