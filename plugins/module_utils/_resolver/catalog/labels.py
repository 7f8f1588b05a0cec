"""The meaning of the labels of instancetypes and preferences."""

from __future__ import annotations

from typing import Any, Final

from ..api import names
from ..api.errors import CatalogError
from ..api.names import shown
from ..choose.fitting import CLASS_LABEL

Manifest = dict[str, Any]


_OS_LABEL: Final = "instancetype.kubevirt.io/os-type"
_ARCHITECTURE_LABEL: Final = "instancetype.kubevirt.io/arch"
_OS_ANNOTATION: Final = "vm.kubevirt.io/os"


def class_of(manifest: Manifest) -> str:
    """The instancetype's class label, such as ``general.purpose``; "" for none."""
    return str(labels_of(manifest).get(CLASS_LABEL, ""))


def os_of(manifest: Manifest) -> str:
    """The preference's operating system, from its label, else from the annotation of its VMs; "" for none."""
    annotations = (manifest.get("spec") or {}).get("annotations") or {}
    return str(labels_of(manifest).get(_OS_LABEL) or annotations.get(_OS_ANNOTATION, ""))


def architecture_of(manifest: Manifest) -> str:
    """The architecture that a preference requires or prefers, or its label; "" for none."""
    spec = manifest.get("spec") or {}
    architecture = (spec.get("requirements") or {}).get("architecture") or spec.get("preferredArchitecture")
    # Preferences for releases before 1.7 have only the label.
    return str(architecture or labels_of(manifest).get(_ARCHITECTURE_LABEL) or "")


def labels_of(manifest: Manifest) -> dict[str, str]:
    return manifest["metadata"].get("labels") or {}


# These labels identify the objects of a catalog.
CATALOG_LABEL: Final = "instancetypes.virtshape.io/catalog"
VERSION_LABEL: Final = "instancetypes.virtshape.io/catalog-version"
MANAGED_BY_LABEL: Final = "app.kubernetes.io/managed-by"
MANAGER: Final = "virtshape"


def check_name(catalog: str) -> None:
    """Raises CatalogError for a catalog name that is not a label value."""
    check_label("catalog", catalog)


def check_label(what: str, value: str) -> None:
    reason = names.label_value(value) if value else "is empty"
    if reason:
        raise CatalogError(f"{what}: {shown(value)} {reason}; the value becomes a label of the objects")
