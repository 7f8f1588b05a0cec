"""The StorageClass of volumes that name none, as CDI and KubeVirt choose it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

Manifest = dict[str, Any]

# The default for VMs comes before the default of Kubernetes.
_DEFAULT_ANNOTATIONS: Final = (
    "storageclass.kubevirt.io/is-default-virt-class",
    "storageclass.kubernetes.io/is-default-class",
)


def default_class(classes: Iterable[Manifest]) -> Manifest | None:
    """The default StorageClass; None if there is none."""
    annotated = [(storage_class, storage_class["metadata"].get("annotations") or {}) for storage_class in classes]
    defaults = (
        storage_class
        for name in _DEFAULT_ANNOTATIONS
        for storage_class, annotations in annotated
        if annotations.get(name) == "true"
    )
    return next(defaults, None)
