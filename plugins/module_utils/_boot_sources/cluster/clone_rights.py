"""Whether VMs may clone their disks from other namespaces, which KubeVirt finds out after it has accepted the VM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._cluster.client.concurrency import map_concurrently
from ..._cluster.client.errors import RequestFailed
from ..._cluster.client.session import Session
from ..._resolver.api.kinds import Kind
from .. import source
from ..source import Consumer
from ..unusable_sources import Clone, is_snapshot

_CLAIM = "PersistentVolumeClaim"
_REVIEW = Kind("SubjectAccessReview", "authorization.k8s.io", "v1", "subjectaccessreviews", False)


class CloneRights:
    """Asks the API server once for each service account and namespace of sources, and for each source only where that
    does not permit all. If the user may not ask, no clone counts as refused.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._refused: dict[Clone, bool] = {}

    def gather_all(self, clones: Iterable[Clone]) -> None:
        """Asks, concurrently, for the rights to all sources of the namespaces of these."""
        self._ask(dict.fromkeys(map(_for_all_sources, clones)))

    def gather(self, clones: Iterable[Clone]) -> None:
        """Asks about these, concurrently."""
        due = list(dict.fromkeys(map(_right_of, clones)))
        # A right to one source has its name; a right to all has none.
        self._ask(dict.fromkeys(_for_all_sources(clone) for clone in due))
        self._ask(clone for clone in due if self._refused[_for_all_sources(clone)])

    def refused(self, clone: Clone) -> bool:
        """Whether the clone is known to be refused."""
        self.gather([clone])
        question = _right_of(clone)
        return self._refused[_for_all_sources(question)] and self._refused[question]

    def _ask(self, clones: Iterable[Clone]) -> None:
        asked = [clone for clone in clones if clone not in self._refused]
        self._refused.update(zip(asked, map_concurrently(self._is_refused, asked)))

    def _is_refused(self, clone: Clone) -> bool:
        try:
            return not may_clone(
                self._session, clone.consumer, clone.namespace, clone.name, snapshot=is_snapshot(clone)
            )
        except RequestFailed:
            return False


def _right_of(clone: Clone) -> Clone:
    """The clone without what does not matter to the right."""
    return clone._replace(path="")


def _for_all_sources(clone: Clone) -> Clone:
    """The question about all sources of the namespace."""
    kind = clone.kind if is_snapshot(clone) else _CLAIM
    return clone._replace(path="", kind=kind, name="")


def may_clone(session: Session, consumer: Consumer, namespace: str, name: str, *, snapshot: bool) -> bool:
    """Whether the API server permits a consumer to clone a claim or a snapshot. Raises RequestFailed."""
    alternatives = source.reviews(consumer, namespace, name, snapshot)
    return any(all(_allows(session, review) for review in rights) for rights in alternatives)


def _allows(session: Session, review: dict[str, Any]) -> bool:
    body = {"apiVersion": _REVIEW.api_version, "kind": _REVIEW.kind, "spec": review}
    answer = session.request("POST", _REVIEW.path(), body=body, retry=True)
    return bool((answer.get("status") or {}).get("allowed"))
