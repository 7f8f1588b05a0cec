"""Objects of a cluster for a task that looks at many of them."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..client.session import Session


class ListedObjects:
    """Objects of a cluster, each kind and namespace listed once."""

    def __init__(self, session: Session) -> None:
        self.list = cache(lambda kind, namespace: session.list(KINDS[kind], namespace))
        """(kind, namespace, "" for all) → the live objects. Raises RequestFailed."""

    def read(self, _session: Session, keys: Collection[ObjectKey]) -> dict[ObjectKey, Manifest]:
        """The live objects with these keys, like `read_objects`."""
        places = {(key.kind, key.namespace) for key in keys}
        objects = {ObjectKey.of(item): item for place in places for item in self.list(*place)}
        return {key: objects[key] for key in keys if key in objects}
