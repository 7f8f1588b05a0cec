"""Lists that a task needs in order to predict whether VMs run."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import Kind
from ..client.errors import ApiError, explain
from ..client.session import Session

Manifest = dict[str, Any]

POD = Kind("Pod", "", "v1", "pods", True)
QUOTA = Kind("ResourceQuota", "", "v1", "resourcequotas", True)
NETWORK = Kind("NetworkAttachmentDefinition", "k8s.cni.cncf.io", "v1", "network-attachment-definitions", True)
STORAGE_CLASS = Kind("StorageClass", "storage.k8s.io", "v1", "storageclasses", False)
_FORBIDDEN = 403
_NO_SUCH_API = 404


class Unread(Exception):
    """A required list is not readable; one line with the remedy."""


def listed(session: Session, kind: Kind, namespace: str | None = None) -> list[Manifest]:
    """All objects of a kind. namespace: None for all. Raises Unread."""
    try:
        return session.list(kind, namespace)[0]
    except ApiError as error:
        raise Unread(explain(error, "LIST", kind)) from None


def if_any(session: Session, kind: Kind, warnings: list[str], namespace: str | None = None) -> list[Manifest] | None:
    """As `listed`, but None if the API does not exist, or if the user may not list it, which adds a warning."""
    try:
        return session.list(kind, namespace)[0]
    except ApiError as error:
        if error.code not in (_FORBIDDEN, _NO_SUCH_API):
            raise
        if error.code == _FORBIDDEN:
            warnings.append(f"{kind.plural} are not taken into account: {explain(error, 'LIST', kind)}")
        return None
