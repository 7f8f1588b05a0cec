"""The lookup of other objects for the resolver, and errors as values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, Protocol

from ...api.kinds import KINDS
from ...api.manifest import Manifest

# The reason of a Problem that represents a panic of KubeVirt.
PANIC: Final = "Crash"


class Problem(NamedTuple):
    """An error as a value.

    message: of the API server or of KubeVirt. reason, code: of the API's Status object. KubeVirt's servers return
    errors other than API errors as InternalError.
    """

    message: str
    reason: str = "InternalError"
    code: int = 500


def not_found(kind: str, name: str) -> Problem:
    """The API server's error for a missing object. kind: a key of `kinds.KINDS`."""
    info = KINDS[kind]
    qualified = f"{info.plural}.{info.group}" if info.group else info.plural
    return Problem(f'{qualified} "{name}" not found', "NotFound", 404)


class Lookup(Protocol):
    """Looks up objects."""

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """The object's manifest, which callers must not change; None if it does not exist; a Problem for other
        failures.

        kind: a key of `kinds.KINDS`. namespace: "" for a cluster-wide kind.
        """


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
