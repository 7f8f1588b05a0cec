"""The labels of a pod, which affinity and topology spread use (``podLabels``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .traits import Spec

CREATED_BY: Final = "kubevirt.io/created-by"

_LONGEST: Final = 63


def labels(metadata: Mapping[str, Any], spec: Spec) -> dict[str, str]:
    """The labels of a VMI's pod, without those of reserved volumes, and without a name that is too long for a label."""
    name = str(metadata.get("name", ""))
    return {
        **(metadata.get("labels") or {}),
        "kubevirt.io": "virt-launcher",
        CREATED_BY: metadata.get("uid", ""),
        "vm.kubevirt.io/name": spec.get("hostname") or name.split(".", maxsplit=1)[0][:_LONGEST],
        **({"vmi.kubevirt.io/id": name} if len(name) <= _LONGEST else {}),
    }
