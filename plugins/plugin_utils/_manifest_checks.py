"""Checks of manifests that users pass: the types of what is read without a schema, and the fields of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..module_utils._resolver.api import formats
from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.api.name_rules import quoted
from ..module_utils._resolver.api.type_remedies import AS_TEXT

# str: text; a dictionary: the shapes of its fields; "*": of all fields. None is an absent field.
Shape = Any

# The metadata that users write, in the server's order; the cluster sets the rest.
_USER_METADATA: Final = ("namespace", "name", "labels", "annotations")

_TEXTS: Final[Shape] = {"*": str}
_REFERENCE: Final[Shape] = {"kind": str, "name": str, "namespace": str}
_REVISION: Final[Shape] = {"kind": str, "name": str, "controllerRevisionRef": _REFERENCE}
_OBJECT: Final[Shape] = {
    "apiVersion": str,
    "kind": str,
    "metadata": {"name": str, "namespace": str, "labels": _TEXTS, "annotations": _TEXTS},
    "spec": {},
    "status": {},
}
_ORIGINS: Final[Shape] = {"pvc": _REFERENCE, "snapshot": _REFERENCE, "dataSource": _REFERENCE}
_SHAPES: Final[dict[str, Shape]] = {
    # Early releases store the spec of an object as text.
    "ControllerRevision": {"data": {part: shape for part, shape in _OBJECT.items() if part != "spec"}},
    "DataSource": {"spec": {"source": _ORIGINS}},
    "DataVolume": {"spec": {"source": _ORIGINS, "sourceRef": _REFERENCE}},
    "KubeVirt": {"status": {"defaultArchitecture": str, "observedKubeVirtVersion": str}},
    "VirtualMachine": {
        "spec": {"instancetype": _TEXTS, "preference": _TEXTS, "template": {}},
        "status": {"instancetypeRef": _REVISION, "preferenceRef": _REVISION},
    },
}


def check_types(manifest: Mapping[str, Any], kind: str = "") -> None:
    """Raises FieldError for a manifest that no API server would return.

    kind: the kind for a manifest that names none.
    """
    _check_shape(manifest, _OBJECT, "")
    _check_shape(manifest, _SHAPES.get(manifest.get("kind") or kind, {}), "")


def _check_shape(value: Any, shape: Shape, path: str) -> None:
    if value is None:
        return
    if shape is str:
        if not isinstance(value, str):
            quotes = "" if isinstance(value, (Mapping, list)) else AS_TEXT
            raise FieldError(path, f"expected a string, found {quoted(value)}{quotes}")
        return
    if not isinstance(value, Mapping):
        raise FieldError(path, f"expected a mapping, found {quoted(value)}")
    every = shape.get("*")
    for field in value if every else shape:
        if field in value:
            _check_shape(value[field], every or shape[field], f"{path}.{field}" if path else str(field))


def gated(manifest: dict[str, Any], accept_unknown: bool, spec_type: str = "VirtualMachineSpec") -> dict[str, Any]:
    """The manifest unchanged, after a check that a cluster may accept it. Raises FieldError.

    spec_type: the schema type of its spec.
    """
    metadata, spec = manifest.get("metadata"), manifest.get("spec")
    if isinstance(metadata, Mapping):
        written = {part: metadata[part] for part in _USER_METADATA if metadata.get(part) is not None}
        check_fields("ObjectMeta", "metadata", written, accept_unknown)
    if isinstance(spec, Mapping):
        check_fields(spec_type, "spec", dict(spec), accept_unknown)
    return manifest


def check_fields(type_name: str, path: str, value: dict[str, Any], accept_unknown: bool) -> None:
    """Raises FieldError, with the path below `path`, for fields or values that no cluster accepts."""
    try:
        formats.checked(type_name, value, accept_unknown)
    except FieldError as error:
        raise (error.with_parent(path) if path else error) from error
