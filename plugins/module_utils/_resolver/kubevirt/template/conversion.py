"""apimachinery's conversion of a JSON object to a Go type (``FromUnstructuredWithValidation``), with its errors.

It goes by reflection, field by field as Go declares them, down to a type that reads JSON by itself.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ...api import unmarshal
from ...api.fields.domain import ENUMS
from ...api.schema import TYPES, field_type

_READS_JSON: Final = ("VirtualMachineInstanceSpec", "Quantity", "IntOrString")
_INTEGERS: Final = ("int", "int32", "int64", "uint", "uint32")
_KINDS: Final = {str: "string", bool: "bool", list: "slice", dict: "map", int: "float64", float: "float64"}
_LAYOUT: Final = (
    *(("2006", r"[0-9]{4}"), ("-", "-"), ("01", r"[0-9]{2}"), ("-", "-"), ("02", r"[0-9]{2}"), ("T", "T")),
    *(("15", r"[0-9]{2}"), (":", ":"), ("04", r"[0-9]{2}"), (":", ":"), ("05", r"[0-9]{2}([.,][0-9]+)?")),
    ("Z07:00", r"Z|[+-][0-9]{2}:[0-9]{2}"),
)


def message(type_name: str, value: dict[str, Any]) -> str | None:
    """The error of a JSON object as a type (a key of schema.TYPES), or None.

    value: with whole numbers as int, however they are written.
    """
    unknown: list[str] = []
    try:
        _convert(type_name, value, "", unknown)
    except _Failed as error:
        return str(error)
    named = ", ".join(sorted(f'unknown field "{path}"' for path in unknown))
    return f"strict decoding error: {named}" if named else None


class _Failed(Exception):
    """The first error, in Go's words."""


def _convert(expression: str, value: Any, path: str, unknown: list[str]) -> None:
    expression = expression.lstrip("*").rstrip("!")
    if value is None or expression == "any":
        return
    kind = _KINDS[type(value)]
    if expression in _READS_JSON:
        problem = unmarshal.message(expression, as_read(expression, value))
        if problem:
            raise _Failed(problem)
    elif expression == "Time":
        _check_time(value)
    elif expression in TYPES:
        if kind != "map":
            raise _Failed(f"cannot restore struct from: {kind}")
        for name, declaration in TYPES[expression].items():
            if name in value:
                _convert(field_type(declaration), value[name], f"{path}.{name}" if path else name, unknown)
        unknown += [f"{path}.{name}" if path else name for name in value if name not in TYPES[expression]]
    elif expression.startswith("[]"):
        if kind != "slice":
            raise _Failed(f"cannot restore slice from {kind}")
        for index, entry in enumerate(value):
            _convert(expression[2:], entry, f"{path}[{index}]", unknown)
    elif expression.startswith("map[string]"):
        if kind != "map":
            raise _Failed(f"cannot restore map from {kind}")
        for entry in value.values():
            _convert(expression[len("map[string]") :], entry, path, unknown)
    else:
        _check_scalar("string" if expression in ENUMS else expression, kind, value)


def _check_scalar(expression: str, kind: str, value: Any) -> None:
    if expression in _INTEGERS and kind == "float64":
        if not isinstance(value, int) and value != 0:
            raise _Failed(f"cannot convert float64 to {expression}")
    elif expression != kind:
        raise _Failed(f"unrecognized type: {expression}")


def _check_time(value: Any) -> None:
    if not isinstance(value, str):
        kind = {list: "array", dict: "object", bool: "bool"}.get(type(value), "number")
        raise _Failed(f"json: cannot unmarshal {kind} into Go value of type string")
    rest = value
    for name, pattern in _LAYOUT:
        match = re.match(pattern, rest)
        if not match:
            raise _Failed(f'parsing time "{value}" as "2006-01-02T15:04:05Z07:00": cannot parse "{rest}" as "{name}"')
        rest = rest[match.end() :]
    if rest:
        raise _Failed(f'parsing time "{value}": extra text: "{rest}"')


def as_read(expression: str, value: Any) -> Any:
    """A JSON value with its fields in the order in which Go reads them, and named as Go takes them.

    Such types are read from JSON that Go has written, with sorted keys, so the first error is that of the first key;
    Go's JSON takes names of fields in any case.
    """
    expression = expression.lstrip("*").rstrip("!")
    if isinstance(value, list) and expression.startswith("[]"):
        return [as_read(expression[2:], entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if expression.startswith("map[string]"):
        return {key: as_read(expression[len("map[string]") :], value[key]) for key in sorted(value)}
    fields = TYPES.get(expression, {})
    by_folded = {name.lower(): name for name in fields}
    read: dict[str, Any] = {}
    for key in sorted(value):
        name = key if key in fields else by_folded.get(key.lower(), key)
        read[name] = as_read(field_type(fields[name]) if name in fields else "any", value[key])
    return read
