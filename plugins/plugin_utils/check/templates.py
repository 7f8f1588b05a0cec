"""The objects of an OpenShift Template, as OpenShift makes them of the default values of its parameters.

Source: github.com/openshift/library-go, pkg/template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

Manifest = dict[str, Any]
Values = dict[str, "str | None"]

_PARAMETER: Final = re.compile(r"\$\{([a-zA-Z0-9_]+)\}")
_ANY_PARAMETER: Final = re.compile(r"\$\{\{?([a-zA-Z0-9_]+)\}")
# Its value may be a number or a truth value.
_NOT_TEXT: Final = re.compile(r"\$\{\{([a-zA-Z0-9_]+)\}\}")
_GENERATED: Final = re.compile(r"\[([^\]]+)\]\{(\d{1,3})\}")
# Classes of characters → one of them.
_CLASSES: Final = {"\\w": "a", "\\d": "0", "\\a": "a", "\\A": "!"}


def is_template(manifest: Manifest) -> bool:
    """Whether the manifest is an OpenShift Template."""
    return manifest["kind"] == "Template" and str(manifest["apiVersion"]).startswith(("template.openshift.io/", "v1"))


def objects(template: Manifest) -> Iterator[tuple[int, Manifest, str]]:
    """The index of each object, the object, and the parameter that it uses but that has no value, "" if none."""
    values = {str(parameter.get("name")): _default(parameter) for parameter in _listed(template, "parameters")}
    for index, item in enumerate(_listed(template, "objects")):
        used = _ANY_PARAMETER.findall(json.dumps(item, default=str))
        missing = next((name for name in used if name in values and values[name] is None), "")
        yield index, item if missing else _substituted(item, values), missing


def _listed(manifest: Manifest, key: str) -> list[Manifest]:
    value = manifest.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _default(parameter: Manifest) -> str | None:
    """The value of a parameter that the user does not set, for a generated one a possible value; None if required."""
    if parameter.get("value") not in (None, ""):
        return str(parameter["value"])
    if parameter.get("generate") == "expression":
        return _GENERATED.sub(lambda match: _character(match[1]) * int(match[2]), str(parameter.get("from") or ""))
    return None if parameter.get("required") else ""


def _character(characters: str) -> str:
    return _CLASSES.get(characters[:2], characters[0])


def _substituted(value: Any, values: Values) -> Any:
    if isinstance(value, dict):
        return {_text(key, values): _substituted(entry, values) for key, entry in value.items()}
    if isinstance(value, list):
        return [_substituted(entry, values) for entry in value]
    if not isinstance(value, str):
        return value
    other = _NOT_TEXT.fullmatch(value)
    if other is None or other[1] not in values:
        return _text(value, values)
    text = values[other[1]] or ""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _text(text: str, values: Values) -> str:
    return _PARAMETER.sub(lambda match: values.get(match[1], match[0]) or "", text) if "${" in text else text
