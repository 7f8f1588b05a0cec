"""Whether VMs may clone their disks from other namespaces, which KubeVirt finds out after it has accepted the VM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._cluster.client.concurrency import map_concurrently
from ..._cluster.client.errors import RequestFailed
from ..._cluster.client.session import Session
from ..._resolver.api.finding import WARNING, Finding
from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.kubevirt.instancetype.lookup import Lookup
from ..source import CloneRight
from ..unusable_sources import clone_rights

_REVIEW = Kind("SubjectAccessReview", "authorization.k8s.io", "v1", "subjectaccessreviews", False)


class CloneRights:
    """Asks the API server once for each service account and namespace of sources, and for each source only where that
    does not permit all. If the user may not ask, no right counts as refused.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._refused: dict[CloneRight, bool] = {}

    def gather_of(self, vms: Iterable[tuple[Manifest, Manifest | None]], objects: Lookup) -> None:
        """Asks for the sources of VMs, given with the live ones."""
        self.gather(right for vm, live in vms for _path, right in clone_rights(vm, live, objects))

    def findings(self, vm: Manifest, live: Manifest | None, objects: Lookup) -> list[Finding]:
        """A warning for each source of a VM that it may not clone."""
        return [
            Finding(
                f"{path}: {right.missing_right_text(f'{right.namespace}/{right.name}')}", severity=WARNING, missing=True
            )
            for path, right in clone_rights(vm, live, objects)
            if self.refused(right)
        ]

    def gather(self, rights: Iterable[CloneRight]) -> None:
        """Asks for these, concurrently."""
        due = list(dict.fromkeys(rights))
        self._ask(dict.fromkeys(right.for_all_sources for right in due))
        self._ask(right for right in due if self._refused[right.for_all_sources])

    def refused(self, right: CloneRight) -> bool:
        """Whether the right is known to be refused."""
        self.gather([right])
        return self._refused[right.for_all_sources] and self._refused[right]

    def _ask(self, rights: Iterable[CloneRight]) -> None:
        asked = [right for right in rights if right not in self._refused]
        self._refused.update(zip(asked, map_concurrently(self._is_refused, asked)))

    def _is_refused(self, right: CloneRight) -> bool:
        try:
            return not may_clone(self._session, right)
        except RequestFailed:
            return False


def may_clone(session: Session, right: CloneRight) -> bool:
    """Whether the API server permits a clone. Raises RequestFailed."""

    def allows(review: dict[str, Any]) -> bool:
        body = {"apiVersion": _REVIEW.api_version, "kind": _REVIEW.kind, "spec": review}
        answer = session.request("POST", _REVIEW.path(), body=body, retry=True)
        return bool((answer.get("status") or {}).get("allowed"))

    return any(all(map(allows, reviews)) for reviews in right.access_reviews())
