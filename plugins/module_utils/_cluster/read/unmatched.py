"""Why a selection is empty: a namespace that does not exist, or names and label selectors that match nothing."""

from __future__ import annotations

from collections.abc import Iterable

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.names import nearest
from ..client.errors import RequestFailed
from ..client.session import Session

_NAMESPACE = BY_NAME["Namespace"]


def unmatched(
    session: Session, namespace: str | None, noun: str, names: Iterable[str] = (), selector: str | None = None
) -> str:
    """The reason on one line, beginning with the option; "" if nothing is wrong with the options.

    Call it only if something is missing, because it reads the namespace.
    namespace: None for all. noun: the objects, in the singular. names: those that were not found.
    """
    if namespace and (problem := missing_namespace(session, namespace)):
        return problem
    where = f" in {namespace}" if namespace else ""
    if selector:
        return f"label_selectors: no {noun}{where} matches {selector}"
    missing = ", ".join(names)
    return f"names: no such {noun}{where}: {missing}" if missing else ""


def missing_namespace(session: Session, namespace: str) -> str:
    """The message about a namespace that does not exist; "" if it exists, or if the user may not read it."""
    try:
        if session.get(_NAMESPACE, None, namespace, True) is not None:
            return ""
    except RequestFailed:
        return ""
    try:
        existing = [item["metadata"]["name"] for item in session.list(_NAMESPACE, None, True)[0]]
    except RequestFailed:
        existing = []
    return f"namespace: {namespace} does not exist{nearest(namespace, existing)}"
