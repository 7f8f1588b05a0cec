"""Whether VMs may clone their disks from other namespaces, which KubeVirt finds out after it has accepted the VM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._cluster.client.errors import RequestFailed
from ..._cluster.client.pool import map_concurrently
from ..._cluster.client.session import Session
from ..._resolver.api.kinds import Kind
from .. import source
from ..source import Consumer
from ..unusable_sources import Clone, is_snapshot

_REVIEW = Kind("SubjectAccessReview", "authorization.k8s.io", "v1", "subjectaccessreviews", False)


class CloneRights:
    """Asks the API server once for each source and service account. Who may not ask learns nothing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._refused: dict[tuple[Any, ...], bool] = {}

    def gather(self, clones: Iterable[Clone]) -> None:
        """Asks about these, concurrently."""
        due = {_key(clone): clone for clone in clones}
        asked = [key for key in due if key not in self._refused]
        self._refused.update(zip(asked, map_concurrently(lambda key: self._is_refused(due[key]), asked)))

    def refused(self, clone: Clone) -> bool:
        """Whether the clone is known to be refused."""
        self.gather([clone])
        return self._refused[_key(clone)]

    def _is_refused(self, clone: Clone) -> bool:
        try:
            return not may_clone(
                self._session, clone.consumer, clone.namespace, clone.name, snapshot=is_snapshot(clone)
            )
        except RequestFailed:
            return False


def may_clone(session: Session, consumer: Consumer, namespace: str, name: str, *, snapshot: bool) -> bool:
    """Whether the API server permits a consumer to clone a claim or a snapshot. Raises RequestFailed."""
    alternatives = source.reviews(consumer, namespace, name, snapshot)
    return any(all(_allows(session, review) for review in rights) for rights in alternatives)


def _allows(session: Session, review: dict[str, Any]) -> bool:
    body = {"apiVersion": _REVIEW.api_version, "kind": _REVIEW.kind, "spec": review}
    answer = session.request("POST", _REVIEW.path(), body=body, retry=True)
    return bool((answer.get("status") or {}).get("allowed"))


def _key(clone: Clone) -> tuple[Any, ...]:
    return (clone.consumer, clone.namespace, clone.name, is_snapshot(clone))
