"""Disks that are cloned from a larger source: CDI refuses them, after KubeVirt has accepted the VM.

The rules are those of CDI's `validateClone`, `validateSnapshotClone` and `validateSourcePVC`.
"""

from __future__ import annotations

from typing import Final

from .._resolver.api.errors import QuantityError
from .._resolver.api.finding import WARNING, Finding
from .._resolver.api.manifest import Manifest, annotations_of
from .._resolver.api.quantity import BINARY_SI, Quantity, parse
from .._resolver.preflight.references import DiskSource, requested_size

_CONTENT: Final = "cdi.kubevirt.io/storage.contentType"
_IMAGE_SIZE: Final = "cdi.Kubervirt.io/virtualSize"
# The share of a file system that CDI takes for its overhead by default; what it adds to the size of a disk there.
_OVERHEAD: Final = 0.06


def size_finding(template: Manifest, path: str, source: DiskSource, content: Manifest) -> Finding | None:
    """A finding for a disk that is declared smaller than its source; None if it is not, or if that is not certain.

    template: of the DataVolume, at the path. source, content: the claim or the snapshot that is cloned.
    """
    declared, size = requested_size(template), _size_of(content)
    try:
        too_small = bool(declared and size) and parse(declared).nanos < _least(template, content, parse(size).nanos)
    except QuantityError:
        return None
    if not too_small:
        return None
    field = "pvc" if "pvc" in template["spec"] else "storage"
    least = Quantity.from_integer(-(-parse(size).nanos // 10**9), BINARY_SI).text
    omit = "" if field == "pvc" else "leave out the size, or "
    return Finding(
        f"{declared} is smaller than the source, the {source.kind} {source.namespace}/{source.name} with {least}, and"
        f" CDI clones to no smaller disk; {omit}declare {least} or more",
        WARNING,
        f"{path}.{field}.resources.requests.storage",
    )


def _size_of(content: Manifest) -> str:
    """The size of a claim or a snapshot; "" if unknown."""
    return requested_size(content) or str((content.get("status") or {}).get("restoreSize") or "")


def _least(template: Manifest, content: Manifest, size: int) -> float:
    """The size in nano units below which CDI refuses a clone for certain. size: of the source."""
    spec, mode = template["spec"], (content.get("spec") or {}).get("volumeMode")
    target = (spec.get("storage") or {}).get("volumeMode")
    # CDI compares what is declared if the source is a snapshot or a block device, or the claim is declared itself.
    if "pvc" in spec or not requested_size(content) or mode == "Block":
        return size
    annotations = annotations_of(content)
    with_overhead = size * (1 - _OVERHEAD)
    if target == "Block" and annotations.get(_CONTENT) != "kubevirt":
        return size
    # It measures an image that goes to a block device. For a file system, it adds the overhead to what is declared.
    measured = annotations.get(_IMAGE_SIZE) if target != "Filesystem" else None
    return min(parse(measured).nanos, with_overhead) if measured else with_overhead
