"""JSON as Go's ``encoding/json`` reads and writes it. Where types are not known, all numbers are 64-bit floats."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final

# Go writes numbers of these sizes without an exponent.
_PLAIN: Final = (1e-6, 1e21)
_ESCAPES: Final = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def parse(text: str) -> Any:
    """The value of a JSON text, with whole numbers as int. Raises ValueError if Go does not accept the text."""
    try:
        value = json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("exceeded max depth") from error
    return _without_surrogates(value) if "\\u" in text else value


def numbers(value: Any) -> Any:
    """A copy of a JSON value with each number as Go holds it: 9007199254740993 becomes 9007199254740992.

    Raises OverflowError for a number that is no 64-bit float.
    """
    if isinstance(value, dict):
        return {key: numbers(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [numbers(entry) for entry in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _whole(float(value))
    return value


def write(value: Any) -> str:
    """The JSON text of a value, with sorted keys."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{write(name)}:{write(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPES)


def number(value: int | float) -> str:
    """A number as Go writes it."""
    if value == 0 or _PLAIN[0] <= abs(value) < _PLAIN[1]:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    return repr(float(value)).replace("e-0", "e-")


def _number(text: str) -> int | float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is out of range")
    return _whole(value)


def _whole(value: float) -> int | float:
    """A whole number as int, with the digits that Go writes; but not -0, which has no int."""
    is_plain = value.is_integer() and abs(value) < _PLAIN[1] and str(value) != "-0.0"
    return int(Decimal(repr(value))) if is_plain else value


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _without_surrogates(value: Any) -> Any:
    """Replaces halves of surrogate pairs by the replacement character."""
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(entry) for entry in value]
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in value)
    return value
