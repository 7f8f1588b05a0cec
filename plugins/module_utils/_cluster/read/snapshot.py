"""The live objects: one LIST for each kind and namespace, however many objects are requested."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..._resolver.api.kinds import BY_NAME, Kind
from ..client.errors import ApiError
from ..client.pool import map_concurrently
from ..client.session import Session

Manifest = dict[str, Any]


class Key(NamedTuple):
    """Identifies an object; namespace is None for cluster-wide kinds."""

    kind: str
    namespace: str | None
    name: str


def read(session: Session, keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
    """The live objects with these keys. A single key of a kind and namespace is one GET. Raises RequestFailed."""
    names: dict[tuple[Kind, str | None], set[str]] = {}
    for key in keys:
        names.setdefault((BY_NAME[key.kind], key.namespace), set()).add(key.name)
    live: dict[Key, dict[str, Any]] = {}
    lists = map_concurrently(lambda place: _read_kind(session, place[0], place[1], names[place]), names)
    for (kind, namespace), items in zip(names, lists):
        live.update({Key(kind.kind, namespace, item["metadata"]["name"]): item for item in items})
    return live


def _read_kind(session: Session, kind: Kind, namespace: str | None, names: set[str]) -> list[dict[str, Any]]:
    if len(names) == 1:
        item = session.get(kind, namespace, next(iter(names)))
        return [item] if item is not None else []
    items, _version = session.list(kind, namespace)
    return [item for item in items if item["metadata"]["name"] in names]


EVENT = Kind("Event", "", "v1", "events", True)
POD = Kind("Pod", "", "v1", "pods", True)
QUOTA = Kind("ResourceQuota", "", "v1", "resourcequotas", True)
NETWORK = BY_NAME["NetworkAttachmentDefinition"]
STORAGE_CLASS = Kind("StorageClass", "storage.k8s.io", "v1", "storageclasses", False)
_FORBIDDEN = 403
_NO_SUCH_API = 404


def list_if_permitted(
    session: Session, kind: Kind, warnings: list[str], namespace: str | None = None
) -> list[Manifest] | None:
    """All objects of a kind; None if the API does not exist, or if the user may not list it, which adds a warning."""
    try:
        return session.list(kind, namespace)[0]
    except ApiError as error:
        if error.code not in (_FORBIDDEN, _NO_SUCH_API):
            raise
        if error.code == _FORBIDDEN:
            warnings.append(f"{kind.plural} are not taken into account: {error}")
        return None
