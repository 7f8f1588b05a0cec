"""The owner of an instancetype or preference: a catalog, virt-operator, or nobody."""

from __future__ import annotations

from typing import Final

from ..api.keys import MANAGED_BY_LABEL
from ..api.manifest import Manifest, labels_of

OPERATOR: Final = "virt-operator"


def is_deployed(manifest: Manifest) -> bool:
    """Whether virt-operator has deployed an instancetype or preference, and would delete it."""
    return labels_of(manifest).get(MANAGED_BY_LABEL) == OPERATOR
