"""Finds text without quotes that YAML reads as another value: `010` is 8, `12:30:45` is 45045, and `no` is false."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .._resolver.api.name_rules import quoted
from .._resolver.api.tree import path_of, scan
from .._resolver.api.type_remedies import QUOTES


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
