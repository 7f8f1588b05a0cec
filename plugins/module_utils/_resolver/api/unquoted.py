"""What YAML makes of text without quotes: `010` is 8, `12:30:45` is 45045, and `no` is false."""

from __future__ import annotations

from typing import Any, Final

from .names import shown

QUOTES: Final = "; put it in quotes"


class UnquotedKey(str):
    """A key of a mapping that YAML does not read as text, as it is written. means: what YAML reads."""

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
    """What is wrong with a key that is not text, as written (`UnquotedKey`) or as YAML read it; "" for text."""
    if isinstance(key, UnquotedKey):
        return f"the key {key} is {_kind(key.means)} in YAML{QUOTES}"
    return "" if isinstance(key, str) else f"YAML read a key as {_kind(key)}{QUOTES}"


def number_problem(value: Any) -> str:
    """What is wrong with an `UnquotedNumber`; "" for other values."""
    if not isinstance(value, UnquotedNumber):
        return ""
    return f'{value.written} is {shown(int(value))} in YAML; write {shown(int(value))} or "{value.written}"'


def problem(value: Any, path: str = "") -> tuple[str, str] | None:
    """The first key or number in a value that YAML reads as something else than what is written.

    Its path and what is wrong, or None. The value may contain itself or repeated parts, because of YAML's aliases.
    """
    if _is_as_written(value):
        return None
    remaining, visited = [(path, value)], set()
    while True:  # it is there
        place, part = remaining.pop()
        if isinstance(part, (dict, list)):
            if id(part) in visited:
                continue
            visited.add(id(part))
        if isinstance(part, dict):
            inside = []
            for key, entry in part.items():
                below = f"{place}.{key}" if place else str(key)
                if reason := key_problem(key):
                    return (below if isinstance(key, UnquotedKey) else place), reason
                inside.append((below, entry))
            remaining += reversed(inside)
        elif isinstance(part, list):
            remaining += reversed([(f"{place}[{index}]", entry) for index, entry in enumerate(part)])
        elif reason := number_problem(part):
            return place, reason


def _is_as_written(value: Any) -> bool:
    """Whether `problem` finds nothing. Thousands of entries seldom have one, and their paths take most of the time."""
    remaining, visited = [value], set()
    while remaining:
        part = remaining.pop()
        if isinstance(part, UnquotedNumber):
            return False
        if not isinstance(part, (dict, list)) or id(part) in visited:
            continue
        visited.add(id(part))
        if isinstance(part, dict):
            if not all(isinstance(key, str) and not isinstance(key, UnquotedKey) for key in part):
                return False
            remaining.extend(part.values())
        else:
            remaining.extend(part)
    return True


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", False: "false", True: "true"}[value]
    return f"the number {shown(value)}" if isinstance(value, (int, float)) else "a date"
