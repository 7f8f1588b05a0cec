"""The StorageClass of volumes that name none, as CDI and KubeVirt choose it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

Manifest = dict[str, Any]

# The default for VMs comes before the default of Kubernetes.
_MARKS: Final = ("storageclass.kubevirt.io/is-default-virt-class", "storageclass.kubernetes.io/is-default-class")


def default_class(classes: Iterable[Manifest]) -> Manifest | None:
    """The default StorageClass; None if there is none."""
    annotated = [(one, one["metadata"].get("annotations") or {}) for one in classes]
    marked = (one for mark in _MARKS for one, annotations in annotated if annotations.get(mark) == "true")
    return next(marked, None)
