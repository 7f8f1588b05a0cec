"""Finds text without quotes that YAML reads as another value: `010` is 8, `12:30:45` is 45045, and `no` is false."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Final

from .name_rules import quoted
from .tree import path_of, scan

QUOTES: Final = "; put it in quotes"
_BY_TEMPLATE: Final = "{{{{ value | {} }}}} if it comes from a template"
AS_TEXT: Final = f"{QUOTES}, or write {_BY_TEMPLATE.format('string')}"
FROM_YAML: Final = f"; write {_BY_TEMPLATE.format('from_yaml')}"
OMIT: Final = f"; write {_BY_TEMPLATE.format('default(omit, true)')}, such as the answer of a survey"
_BOOLEAN: Final = r"'(?i:true|false|yes|no|on|off|y|n|0|1)'|[01]"
_STRING: Final = (r"(?!an object$|a list$|null$|None$|[\[{']).*", AS_TEXT)
_OBJECT: Final = (r"'\s*([\[{]|- |[^']*: ).*", FROM_YAML)
# An expected type → the values that mean one of it, as messages quote them, and the remedy.
_REMEDIES: Final = {
    **dict.fromkeys(("a string", "a text"), _STRING),
    "true or false": (_BOOLEAN, f"; write true or false without quotes, or {_BY_TEMPLATE.format('bool')}"),
    "a whole number": (
        r"'\s*[-+]?[0-9]+\s*'|-?[0-9]+\.0",
        f"; write it without quotes, or {_BY_TEMPLATE.format('int')}",
    ),
    "a number": (r"'\s*[-+]?[0-9.]+\s*'", f"; write it without quotes, or {_BY_TEMPLATE.format('float')}"),
    **dict.fromkeys(("a list", "an object", "a dictionary"), _OBJECT),
}
_EXPECTED: Final = re.compile(rf"expected ({'|'.join(_REMEDIES)}), found (.*)", re.DOTALL)


class UnquotedKey(str):
    """A key of a mapping that YAML does not read as text, as it is written. means: the value that YAML reads."""

    means: Any

    def __new__(cls, written: str, means: Any) -> UnquotedKey:
        key = super().__new__(cls, written)
        key.means = means
        return key


class UnquotedNumber(int):
    """An integer that is not written as a decimal number. written: its text."""

    written: str

    def __new__(cls, written: str, value: int) -> UnquotedNumber:
        number = super().__new__(cls, value)
        number.written = written
        return number


def key_problem(key: Any) -> str:
    """Says what is wrong with a key that is no text, as written (`UnquotedKey`) or as YAML read it; "" for text."""
    if isinstance(key, UnquotedKey):
        return f"the key {key} is {_kind(key.means)} in YAML{QUOTES}"
    return "" if isinstance(key, str) else f"YAML read a key as {_kind(key)}{QUOTES}"


def number_problem(value: Any) -> str:
    """Says what is wrong with an `UnquotedNumber`, or with a number that JSON does not have; "" for other values."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"YAML reads the number {value}, which JSON does not have{QUOTES}"
    if not isinstance(value, UnquotedNumber):
        return ""
    return f'{value.written} is {quoted(int(value))} in YAML; write {quoted(int(value))} or "{value.written}"'


def wrong_type(expected: str, value: Any) -> str:
    """The message about a value of a wrong type, with the remedy."""
    reason = f"expected {expected}, found {quoted(value)}"
    return reason + type_remedy(reason)


def type_remedy(reason: str) -> str:
    """The remedy for a value of a wrong type that means the right one; "" for other values.

    Surveys give text for numbers, and templates numbers for text. reason: in the words of `schema`.
    """
    match = _EXPECTED.fullmatch(reason)
    if match is None:
        return ""
    meant, remedy = _REMEDIES[match[1]]
    return remedy if re.fullmatch(meant, match[2], re.DOTALL) else ""


def problem(value: Any) -> tuple[str, str] | None:
    """The first of `problems`, or None."""
    return next(problems(value), None)


def problems(value: Any) -> Iterator[tuple[str, str]]:
    """The keys and numbers in a value that YAML reads as something else than what is written.

    Their paths and what is wrong. The value may contain itself or repeated parts, because of YAML's aliases.
    """
    for place, part in scan(value):
        if part.__class__ is str:
            continue  # as most are
        if isinstance(part, dict):
            for key in part:
                if key.__class__ is not str and (reason := key_problem(key)):
                    yield path_of((place, key) if isinstance(key, UnquotedKey) else place), reason
        elif reason := number_problem(part):
            yield path_of(place), reason


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", False: "false", True: "true"}[value]
    return f"the number {quoted(value)}" if isinstance(value, (int, float)) else "a date"
