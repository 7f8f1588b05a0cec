"""The owner of an instancetype or preference: a catalog, virt-operator, or nobody."""

from __future__ import annotations

from typing import Final

from ..api import name_rules as names
from ..api.errors import CatalogError
from ..api.keys import MANAGED_BY_LABEL
from ..api.manifest import Manifest, labels_of
from ..api.name_rules import quoted

OPERATOR: Final = "virt-operator"


def is_deployed(manifest: Manifest) -> bool:
    """Whether virt-operator has deployed an instancetype or preference, and would delete it."""
    return labels_of(manifest).get(MANAGED_BY_LABEL) == OPERATOR


def check_label(noun: str, value: str) -> None:
    """Raises CatalogError for a name or version of a catalog that is not a label value."""
    reason = names.label_value(value) if value else "is empty"
    if reason:
        raise CatalogError(f"{noun}: {quoted(value)} {reason}; the value becomes a label of the objects")
