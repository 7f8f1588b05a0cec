"""Writes as values: what is sent, and whether it may be sent again if its answer is lost.

docs/reliability.md has the same as a table for users.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

from .manifest import Manifest

JSON: Final = "application/json"
MERGE_PATCH: Final = "application/merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
APPLY: Final = "application/apply-patch+yaml"


class RetrySafety(Enum):
    """Whether a write may be sent again although the one before may have taken effect.

    ALWAYS: the second finds what the first wrote, or the server rejects it. CHECK_FIRST: only after a read has shown
    that the first had no effect. NEVER: no read can show that, and a second effect would do harm.
    """

    ALWAYS = "always"
    CHECK_FIRST = "after a read"
    NEVER = "never"


class Write(NamedTuple):
    """A request that changes something. query: the parameters of the URL as pairs."""

    method: str
    path: str
    body: Any
    repeat: RetrySafety
    content_type: str = JSON
    query: tuple[tuple[str, str], ...] = ()


def merge_patch(path: str, patch: Manifest, **query: str) -> Write:
    return Write("PATCH", path, patch, RetrySafety.ALWAYS, MERGE_PATCH, tuple(query.items()))


def json_patch(path: str, steps: list[Manifest], **query: str) -> Write:
    """A patch that is safe to repeat: it only sets values, or it tests the values that it replaces, so that the server
    rejects a second one.
    """
    return Write("PATCH", path, steps, RetrySafety.ALWAYS, JSON_PATCH, tuple(query.items()))


def apply(path: str, manifest: Manifest, manager: str, force: bool = False) -> Write:
    """Applies an object for a field manager. The server rejects unknown fields."""
    query = (("fieldManager", manager), ("fieldValidation", "Strict"), ("force", "true" if force else "false"))
    return Write("PATCH", path, manifest, RetrySafety.ALWAYS, APPLY, query)


def delete(path: str, uid: str | None = None) -> Write:
    """Deletes an object. The second finds none, and with a UID, no newer object of the same name."""
    return Write("DELETE", path, {"preconditions": {"uid": uid}} if uid else None, RetrySafety.ALWAYS)


def create(path: str, manifest: Manifest) -> Write:
    """Creates an object with a name. The server rejects the second."""
    return Write("POST", path, manifest, RetrySafety.ALWAYS)


def replace(path: str, manifest: Manifest) -> Write:
    """Replaces the version that the manifest names. The server rejects the second."""
    return Write("PUT", path, manifest, RetrySafety.ALWAYS)
