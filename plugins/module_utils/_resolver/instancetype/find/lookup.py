"""Where the resolver's questions about other objects are answered, and errors as values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, Protocol

from ...api.kinds import BY_NAME

Manifest = dict[str, Any]


# The reason of a Problem that stands for a panic of KubeVirt.
CRASH: Final = "Crash"


class Problem(NamedTuple):
    """An error as a value.

    message: the words of the API server or of KubeVirt.
    reason, code: those of the API's Status object. KubeVirt's servers return every error that is not an API error as
    InternalError.
    """

    message: str
    reason: str = "InternalError"
    code: int = 500


def not_found(kind: str, name: str) -> Problem:
    """The API server's answer when there is no such object; kind is a key of kinds.BY_NAME."""
    known = BY_NAME[kind]
    qualified = f"{known.plural}.{known.group}" if known.group else known.plural
    return Problem(f'{qualified} "{name}" not found', "NotFound", 404)


class Lookup(Protocol):
    """Where objects are looked up."""

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """The object's manifest, which callers do not change; None if there is none; another failure as a Problem.

        kind: a key of kinds.BY_NAME. namespace: "" for a cluster-wide kind.
        """


class Objects:
    """Objects given as a list of manifests; of two with the same kind, namespace and name the last one counts."""

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
    return kind not in BY_NAME or BY_NAME[kind].namespaced
