"""The lookup of other objects for the resolver."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ...api.errors import KubeVirtError, value_or_none
from ...api.kinds import KINDS
from ...api.manifest import Manifest


def not_found(kind: str, name: str) -> KubeVirtError:
    """The API server's error for a missing object. kind: a key of `kinds.KINDS`."""
    info = KINDS[kind]
    qualified = f"{info.plural}.{info.group}" if info.group else info.plural
    return KubeVirtError(f'{qualified} "{name}" not found', "NotFound", 404)


class Lookup(Protocol):
    """Looks up objects."""

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """The object's manifest, which callers must not change; None if it does not exist.

        kind: a key of `kinds.KINDS`. namespace: "" for a cluster-wide kind. Raises KubeVirtError for an object that
        cannot be read.
        """


def get_readable(lookup: Lookup, kind: str, namespace: str, name: str) -> Manifest | None:
    """The object's manifest; None if it does not exist or cannot be read."""
    return value_or_none(lookup.get, kind, namespace, name)


def is_missing(lookup: Lookup, kind: str, namespace: str, name: str) -> bool:
    """Whether an object does not exist. An object that cannot be read may exist."""
    try:
        return lookup.get(kind, namespace, name) is None
    except KubeVirtError:
        return False


class Objects:
    """A Lookup on a list of manifests; of duplicates the last counts."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        self._objects = {_key(manifest): manifest for manifest in objects}

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """See Lookup."""
        return self._objects.get((kind, namespace if _namespaced(kind) else "", name))


def _key(manifest: Manifest) -> tuple[str, str, str]:
    metadata = manifest.get("metadata") or {}
    kind = manifest.get("kind") or ""
    return kind, (metadata.get("namespace") or "") if _namespaced(kind) else "", metadata.get("name") or ""


def _namespaced(kind: str) -> bool:
    return kind not in KINDS or KINDS[kind].namespaced
