"""Checks of the manifests that options make: all errors at once, by the names of the options."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Final

from ..api import formats, quantity
from ..api import name_rules as names
from ..api.errors import FieldError, QuantityError
from ..api.manifest import Manifest, Options
from ..api.name_rules import quoted


def canonical_quantity(path: str, text: Any) -> str:
    """The canonical text of a quantity. path: the position of the option. Raises FieldError."""
    try:
        return quantity.canonical(str(text))
    except QuantityError as error:
        raise FieldError(
            path, f"{quoted(text)} is not a quantity; write a quantity such as 512Mi, 4Gi or 4G"
        ) from error


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
_INTERFACE: Final = rf"{re.escape(_TEMPLATE)}domain\.devices\.interfaces\[(\d+)\](.*)"


def validated(type_name: str, manifest: Manifest, options: Options) -> Manifest:
    """The manifest in the API's spelling, without empty parts, if a cluster may accept it.

    options: the source of the manifest; `accept_unknown_fields` permits unknown fields. Raises FieldError with all
    errors, and the paths of their options if known.
    """
    check_name(options)
    check = partial(formats.checked, type_name, accept_unknown=bool(options.get("accept_unknown_fields")))
    try:
        return check(manifest)
    except FieldError as error:
        from ..api.all_errors import all_errors

        errors = [FieldError(_option_path(each.path, options), each.reason) for each in all_errors(check, manifest)]
        raise FieldError.joined(errors) from error


def check_name(options: Options) -> None:
    """Raises FieldError for a missing name, or one too long for the names that KubeVirt derives from it."""
    name = options.get("name") or ""
    reason = names.subdomain(name) if name else "is empty"
    if reason:
        raise FieldError("name", f"{quoted(name)} {reason}; write a name such as web-1")


def _option_path(path: str, options: Options) -> str:
    for field, option in _OPTIONS.items():
        if path.startswith(field) and (not option or options.get(option) is not None):
            return option + path[len(field) :]
    interface = re.fullmatch(_INTERFACE, path)
    if interface and int(interface[1]) < len(options.get("networks") or ()):
        return f"networks[{interface[1]}]{interface[2]}".replace(".macAddress", ".mac_address")
    return path
