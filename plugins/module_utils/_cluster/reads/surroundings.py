"""The objects around VMs, some of which a user may not list, and the default StorageClass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest
from ..client.errors import ApiError
from ..client.session import Session

EVENT = Kind("Event", "", "v1", "events", True)
POD = Kind("Pod", "", "v1", "pods", True)
QUOTA = Kind("ResourceQuota", "", "v1", "resourcequotas", True)
NETWORK = KINDS["NetworkAttachmentDefinition"]
STORAGE_CLASS = KINDS["StorageClass"]
# The default for VMs comes before the default of Kubernetes.
_DEFAULT_ANNOTATIONS: Final = (
    "storageclass.kubevirt.io/is-default-virt-class",
    "storageclass.kubernetes.io/is-default-class",
)
_FORBIDDEN = 403
_NO_SUCH_API = 404


def list_if_permitted(
    session: Session, kind: Kind, warnings: list[str], namespace: str | None = None
) -> list[Manifest] | None:
    """All objects of a kind; None if the API does not exist, or if the user may not list it, which adds a warning."""
    try:
        return session.list(kind, namespace)
    except ApiError as error:
        if error.code not in (_FORBIDDEN, _NO_SUCH_API):
            raise
        if error.code == _FORBIDDEN:
            warnings.append(f"{kind.plural} are not taken into account: {error}")
        return None


def default_class(classes: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The default StorageClass; None if there is none."""
    annotated = [(storage_class, storage_class["metadata"].get("annotations") or {}) for storage_class in classes]
    defaults = (
        storage_class
        for name in _DEFAULT_ANNOTATIONS
        for storage_class, annotations in annotated
        if annotations.get(name) == "true"
    )
    return next(defaults, None)
