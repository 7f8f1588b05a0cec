"""The checks that every declared object passes before the first request; their messages contain the remedy."""

from __future__ import annotations

import re
from typing import Any, Final

from ..api import formats, names, quantity, schema
from ..api.errors import FieldError, QuantityError
from ..api.names import shown

Options = dict[str, Any]


def canonical_quantity(path: str, text: Any) -> str:
    """The canonical text of a quantity. path: of the option. Raises FieldError, caused by QuantityError."""
    try:
        return quantity.canonical(str(text))
    except QuantityError as error:
        raise FieldError(path, f"{shown(text)} is not a quantity; write a quantity such as 512Mi, 4Gi or 4G") from error


Manifest = dict[str, Any]

_TEMPLATE: Final = "spec.template.spec."
# Fields → the prefix of the options that set them, which users know.
_OPTIONS: Final = {
    "metadata.": "",
    "spec.instancetype": "instancetype",
    "spec.preference": "preference",
    f"{_TEMPLATE}domain.memory.guest": "memory",
    f"{_TEMPLATE}terminationGracePeriodSeconds": "termination_grace_period",
    f"{_TEMPLATE}tolerations": "tolerations",
    f"{_TEMPLATE}nodeSelector": "node_selector",
}
_INTERFACE: Final = re.compile(rf"{re.escape(_TEMPLATE)}domain\.devices\.interfaces\[(\d+)\](.*)")


def validated(type_name: str, manifest: Manifest, options: Options, validate: bool = True) -> Manifest:
    """The manifest in the API's spelling, without empty parts, if a cluster may accept it.

    options: the source of the manifest; `accept_unknown_fields` permits unknown fields. validate: false skips it,
    for virtctl's behaviour. Raises FieldError with the path of the option if known.
    """
    if not validate:
        return schema.declared(type_name, manifest)
    check_name(options)
    try:
        return formats.checked(type_name, manifest, bool(options.get("accept_unknown_fields")))
    except FieldError as error:
        raise FieldError(_option_path(error.path, options), error.reason) from error


def check_name(options: Options) -> None:
    """Raises FieldError for a missing name, or one too long for the names that KubeVirt derives from it."""
    name = options.get("name") or ""
    reason = names.subdomain(name) if name else "is empty"
    if reason:
        raise FieldError("name", f"{shown(name)} {reason}; write a name such as web-1")


def _option_path(path: str, options: Options) -> str:
    for field, option in _OPTIONS.items():
        if path.startswith(field) and (not option or options.get(option) is not None):
            return option + path[len(field) :]
    interface = _INTERFACE.fullmatch(path)
    if interface and int(interface[1]) < len(options.get("networks") or ()):
        return f"networks[{interface[1]}]{interface[2]}".replace(".macAddress", ".mac_address")
    return path
