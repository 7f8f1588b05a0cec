"""Values that are generated from an expression such as ``vm-[a-z0-9]{5}`` (virt-template's ``ExpressionValue``)."""

from __future__ import annotations

import hashlib
import re
import string
from typing import Final

_LETTERS: Final = string.ascii_lowercase + string.ascii_uppercase
_ALPHABET: Final = _LETTERS + string.digits
# In spite of its documentation, virt-template takes \a for letters and digits.
_CLASSES: Final = {r"\w": f"{_ALPHABET}_", r"\d": string.digits, r"\a": _ALPHABET, r"\A": string.punctuation}
_EXPRESSION: Final = re.compile(r"\[([a-zA-Z0-9\-\\]+)\]\{(\w+)\}", re.ASCII)
_RANGE: Final = re.compile(r"\\w|\\d|\\a|\\A|.-.|[a-zA-Z0-9]+")
_LENGTHS: Final = range(1, 256)


class ExpressionError(ValueError):
    """An expression that generates nothing; the message is virt-template's."""


def generate(expression: str, seed: str) -> str:
    """A text that the expression describes. The same seed gives the same text.

    seed: for values that nobody may guess, a random text that nobody knows. Raises ExpressionError.
    """
    text, taken = expression, 0
    while match := _EXPRESSION.search(text):
        characters, count = _range(match)
        drawn = "".join(characters[_draw(seed, taken + index) % len(characters)] for index in range(count))
        taken += count
        text = text.replace(match[0], drawn, 1)
    return text


def pattern(expression: str) -> str:
    """A regular expression, of a fixed length, for what an expression generates. Raises ExpressionError."""
    parts, end = [], 0
    for match in _EXPRESSION.finditer(expression):
        characters, count = _range(match)
        parts += [re.escape(expression[end : match.start()]), f"[{re.escape(characters)}]{{{count}}}"]
        end = match.end()
    return "".join([*parts, re.escape(expression[end:])])


def _range(match: re.Match[str]) -> tuple[str, int]:
    """The characters to choose from, and how many."""
    ranges, length = match.groups()
    if not _RANGE.search(ranges):
        raise ExpressionError(f"malformed ranges syntax: {ranges}")
    count = _length(length)
    return _characters(ranges), count


def _draw(seed: str, index: int) -> int:
    """A number so large that its remainder favours no character."""
    return int.from_bytes(hashlib.sha256(f"{index} {seed}".encode()).digest(), "big")


def _length(text: str) -> int:
    problem = f'malformed length syntax: strconv.Atoi: parsing "{text}": '
    if not re.fullmatch("[0-9]+", text):
        raise ExpressionError(f"{problem}invalid syntax")
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(2**63)) or int(digits) >= 2**63:
        raise ExpressionError(f"{problem}value out of range")
    if int(digits) not in _LENGTHS:
        raise ExpressionError(f"range must be within [1-255] characters: {digits}")
    return int(digits)


def _characters(ranges: str) -> str:
    """The characters that the ranges have, each once."""
    characters: set[str] = set()
    for part in _RANGE.findall(ranges):
        if part in _CLASSES:
            characters.update(_CLASSES[part])
        elif part[1:2] == "-":
            characters.update(_between(part[0], part[2]))
        else:
            characters.update(part)
    return "".join(sorted(characters))


def _between(first: str, last: str) -> str:
    start, end = _ALPHABET.find(first), _ALPHABET.find(last)
    if start < 0:
        raise ExpressionError(f"invalid start character in range: {first}")
    if end < 0:
        raise ExpressionError(f"invalid end character in range: {last}")
    if start > end:
        raise ExpressionError(f"invalid range specified: {first}-{last}")
    return _ALPHABET[start : end + 1]
