# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the parts of a manifest that are read without a schema have the types that an API server gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.api.names import shown

# str: text; a dictionary: the shapes of its fields; "*": of all fields. None is an absent field.
Shape = Any

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
_OF_KINDS: Final[dict[str, Shape]] = {
    "ControllerRevision": {"data": _OBJECT},
    "DataSource": {"spec": {"source": _ORIGINS}},
    "DataVolume": {"spec": {"source": _ORIGINS, "sourceRef": _REFERENCE}},
    "KubeVirt": {"status": {"defaultArchitecture": str, "observedKubeVirtVersion": str}},
    "VirtualMachine": {
        "spec": {"instancetype": _TEXTS, "preference": _TEXTS, "template": {}},
        "status": {"instancetypeRef": _REVISION, "preferenceRef": _REVISION},
    },
}


def check(manifest: Mapping[str, Any], kind: str = "") -> None:
    """Raises FieldError for a manifest that no API server would return.

    kind: of a manifest that names none.
    """
    _check(manifest, _OBJECT, "")
    _check(manifest, _OF_KINDS.get(manifest.get("kind") or kind, {}), "")


def _check(value: Any, shape: Shape, path: str) -> None:
    if value is None:
        return
    if shape is str:
        if not isinstance(value, str):
            quotes = "" if isinstance(value, (Mapping, list)) else "; put it in quotes"
            raise FieldError(path, f"expected text, found {shown(value)}{quotes}")
        return
    if not isinstance(value, Mapping):
        raise FieldError(path, f"expected a mapping, found {shown(value)}")
    every = shape.get("*")
    for field in value if every else shape:
        if field in value:
            _check(value[field], every or shape[field], f"{path}.{field}" if path else str(field))
