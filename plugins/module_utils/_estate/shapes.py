"""Checks values that people and other programs write against shapes, which are data.

A shape is a check (a function that returns the value to keep and raises FieldError), a tuple of choices, a list with
the shape of its entries, or a dictionary with the shapes of its keys; `*` is any key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from .._resolver.api import name_rules
from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import did_you_mean, quoted
from .._resolver.api.type_remedies import wrong_type

_WORDS: Final = {str: "a text", bool: "true or false", Mapping: "a dictionary", (list, tuple): "a list"}


def checked(value: Any, shape: Any) -> Any:
    """The value as the shape says, without entries that are None. Raises FieldError."""
    if isinstance(shape, tuple):
        if value not in shape:
            raise FieldError("", f"{quoted(value)} is not one of {', '.join(filter(None, shape))}")
        return value
    if isinstance(shape, type):
        return _of_type(value, shape)
    if isinstance(shape, list):
        entries = _of_type(value, (list, tuple))
        return [checked_at(f"[{index}]", entry, shape[0]) for index, entry in enumerate(entries)]
    if isinstance(shape, Mapping):
        result = {}
        for key, entry in _of_type(value, Mapping).items():
            if key not in shape and "*" not in shape:
                raise FieldError(str(key), f"is unknown{did_you_mean(key, shape)}")
            if entry is not None or "*" in shape:
                place = f"[{key}]" if "*" in shape else str(key)
                result[str(key)] = checked_at(place, entry, shape.get(key, shape.get("*")))
        return result
    return shape(value)


def checked_at(place: str, value: Any, shape: Any) -> Any:
    """See `checked`. place: the path of the value, for errors."""
    try:
        return checked(value, shape)
    except FieldError as error:
        raise error.with_parent(place) from None


def _of_type(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        raise FieldError("", wrong_type(_WORDS[kind], value))
    return value


def name(value: Any, problem_of: Callable[[str], str | None] = name_rules.subdomain) -> str:
    """A check for the name of an object."""
    problem = problem_of(value) if isinstance(value, str) else "is no name"
    if problem:
        raise FieldError("", f"{quoted(value)} {problem}")
    return str(value)


def label(value: Any) -> str:
    """A check for the name of a namespace or a VM."""
    return name(value, name_rules.label)


def _only(noun: str, is_valid: Callable[[Any], Any], kept: Callable[[Any], Any] | None = None) -> Callable[[Any], Any]:
    """A check for a value of a kind. kept: what the check returns of it; the value itself without a function."""

    def check(value: Any) -> Any:
        if isinstance(value, bool) or not is_valid(value):
            raise FieldError("", wrong_type(noun, value))
        return kept(value) if kept else value

    return check


text: Final = _only("a text", lambda value: isinstance(value, str) and value)
number: Final = _only("a number", lambda value: isinstance(value, (int, float)) and 0 <= value < float("inf"))
amount: Final = _only("a whole number", lambda value: re.fullmatch("[0-9]{1,18}", str(value).strip(), re.ASCII), int)


def pattern(value: Any) -> str:
    """A check for a regular expression."""
    try:
        re.compile(text(value))
    except re.error as error:
        raise FieldError("", f"{quoted(value)} is no pattern: {error}") from None
    return str(value)
