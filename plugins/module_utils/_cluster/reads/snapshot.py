"""The live objects, with one LIST for each kind and namespace; and why a selection of them is empty."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.name_rules import did_you_mean
from ..client.concurrency import map_concurrently
from ..client.errors import value_or_default
from ..client.session import Session

_NAMESPACE = KINDS["Namespace"]

ReadObjects = Callable[[Session, Collection[ObjectKey]], "dict[ObjectKey, Manifest]"]
"""Reads the live objects with these keys, and what is listed with them. Raises RequestFailed."""


def read_objects(session: Session, keys: Iterable[ObjectKey]) -> dict[ObjectKey, dict[str, Any]]:
    """The live objects with these keys, and what is listed with them. Raises RequestFailed.

    A single key of a kind and namespace is one GET.
    """
    groups: dict[tuple[str, str], set[ObjectKey]] = {}
    for key in keys:
        groups.setdefault(key[:2], set()).add(key)

    def read_group(group: set[ObjectKey]) -> dict[ObjectKey, Manifest]:
        kind, namespace, name = next(iter(group))
        if len(group) == 1:
            item = session.get(KINDS[kind], namespace, name)
            return {} if item is None else dict.fromkeys(group, item)
        return {
            ObjectKey(kind, namespace, item["metadata"]["name"]): item for item in session.list(KINDS[kind], namespace)
        }

    return {key: live for part in map_concurrently(read_group, groups.values()) for key, live in part.items()}


def unmatched(
    session: Session, namespace: str | None, noun: str, names: Iterable[str] = (), selector: str | None = None
) -> str:
    """The reason on one line, beginning with the option; "" if nothing is wrong with the options.

    Call it only if something is missing, because it reads the namespace.
    namespace: None for all. noun: the objects, in the singular. names: the names that were not found.
    """
    if namespace and (problem := namespace_problem(session, namespace)):
        return problem
    where = f" in {namespace}" if namespace else ""
    if selector:
        return f"label_selectors: no {noun}{where} matches {selector}"
    missing = ", ".join(names)
    return f"names: no such {noun}{where}: {missing}" if missing else ""


def namespace_problem(session: Session, namespace: str) -> str:
    """The message about a namespace that does not exist; "" if it exists, or if the user may not read it."""
    if value_or_default(lambda: session.get(_NAMESPACE, None, namespace, True) is not None, True):
        return ""
    existing = [item["metadata"]["name"] for item in value_or_default(lambda: session.list(_NAMESPACE, None, True), [])]
    return f"namespace: {namespace} does not exist{did_you_mean(namespace, existing)}"
