"""Values of parameters: as users write them, as a VM has them, and generated from an expression such as
``vm-[a-z0-9]{5}`` (virt-template's ``ExpressionValue``).
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from .._resolver.api.errors import FieldError
from . import go_json
from .substitution import REFERENCE, WHOLE, references

_LETTERS: Final = string.ascii_lowercase + string.ascii_uppercase
_ALPHABET: Final = _LETTERS + string.digits
# In spite of its documentation, virt-template takes \a for letters and digits.
_CLASSES: Final = {r"\w": f"{_ALPHABET}_", r"\d": string.digits, r"\a": _ALPHABET, r"\A": string.punctuation}
_EXPRESSION: Final = re.compile(r"\[([a-zA-Z0-9\-\\]+)\]\{(\w+)\}", re.ASCII)
_RANGE: Final = re.compile(r"\\w|\\d|\\a|\\A|.-.|[a-zA-Z0-9]+")
_LENGTH: Final = re.compile(r"0*([1-9]\d?|1\d\d|2[0-4]\d|25[0-5])", re.ASCII)


def generate(expression: str, seed: str) -> str:
    """A text that the expression describes. The same seed gives the same text.

    seed: a secret random text, so that the values cannot be guessed. Raises FieldError.
    """
    text, taken = expression, 0
    while match := _EXPRESSION.search(text):
        characters, count = _characters_and_count(match)
        drawn = "".join(characters[_random_number(seed, taken + index) % len(characters)] for index in range(count))
        taken += count
        text = text.replace(match[0], drawn, 1)
    return text


def pattern(expression: str) -> str:
    """A regular expression, of a fixed length, for what an expression generates. Raises FieldError."""
    parts, end = [], 0
    for match in _EXPRESSION.finditer(expression):
        characters, count = _characters_and_count(match)
        parts += [re.escape(expression[end : match.start()]), f"[{re.escape(characters)}]{{{count}}}"]
        end = match.end()
    return "".join([*parts, re.escape(expression[end:])])


def _characters_and_count(match: re.Match[str]) -> tuple[str, int]:
    """The characters to choose from, and how many."""
    ranges, length = match.groups()
    if not _LENGTH.fullmatch(length):
        raise FieldError("", f"{{{length}}} is no length; write a number from 1 to 255")
    return _characters(ranges), int(length)


def _random_number(seed: str, index: int) -> int:
    """A number so large that its remainder favours no character."""
    return int.from_bytes(hashlib.sha256(f"{index} {seed}".encode()).digest(), "big")


def _characters(ranges: str) -> str:
    """The characters that the ranges have, each once."""
    characters: set[str] = set()
    for part in _RANGE.findall(ranges):
        if part in _CLASSES:
            characters.update(_CLASSES[part])
        elif part[1:2] == "-":
            characters.update(_characters_between(part[0], part[2]))
        else:
            characters.update(part)
    if not characters:
        raise FieldError("", f"[{ranges}] has no characters; write ranges such as [a-z0-9]")
    return "".join(sorted(characters))


def _characters_between(first: str, last: str) -> str:
    start, end = _ALPHABET.find(first), _ALPHABET.find(last)
    if not 0 <= start <= end:
        raise FieldError("", f"{first}-{last} is no range; write one such as a-z, A-Z, a-Z or 0-9")
    return _ALPHABET[start : end + 1]


def texts(parameters: Mapping[str, Any], path: str = "parameters") -> dict[str, str]:
    """Values by name as texts, as the API takes them. Raises FieldError."""
    return {str(name): _text(value, f"{path}.{name}") for name, value in parameters.items()}


def _text(value: Any, path: str) -> str:
    if isinstance(value, (Mapping, list)):
        raise FieldError(path, "expected a string; write JSON, with to_json")
    if value is None:
        return ""
    return str(value) if isinstance(value, str) else go_json.write(value)


def recovered(
    declared: Iterable[Mapping[str, Any]], names: Iterable[str], vm: Any, live: Any, known: Mapping[str, str]
) -> dict[str, str]:
    """The values with which a live VM was made of a template, as far as its texts show them.

    declared: the template's parameters. names: the parameters to recover. vm: the template's VM. live: the live VM, or
    the part of it that `vm` is of. known: values of other parameters, which the live VM may have been made without.
    """
    expressions = {str(item.get("name")): str(item.get("from") or "") for item in declared}
    requested = set(names)
    pairs = [(text, live_text) for text, live_text in _pairs(vm, live) if not requested.isdisjoint(references(text))]
    values: dict[str, str] = {}
    for text, live_text in pairs:
        _add_requested(values, requested, generated_in(text, live_text, known, expressions))
    for text, live_text in pairs:
        _add_requested(values, requested, explicit_in(text, live_text, known) or explicit_in(text, live_text, {}))
    return values


def _add_requested(values: dict[str, str], requested: set[str], matched: Mapping[str, str] | None) -> None:
    for name, value in (matched or {}).items():
        if name in requested and value:
            values.setdefault(name, value)


def _pairs(template: Any, live: Any) -> Iterator[tuple[str, str]]:
    """The texts of a template's VM, each with the text in its place in a live VM."""
    if isinstance(template, str):
        if isinstance(live, str):
            yield template, live
        elif WHOLE.fullmatch(template) and live is not None:
            yield template, go_json.write(live)
    elif isinstance(template, dict) and isinstance(live, dict):
        for key, item in template.items():
            yield from _pairs(item, live.get(key))
    elif isinstance(template, list) and isinstance(live, list):
        by_name = {item.get("name"): item for item in live if isinstance(item, dict)}
        for index, item in enumerate(template):
            name = item.get("name") if isinstance(item, dict) else None
            namesake = by_name.get(name) if isinstance(name, str) else None
            yield from _pairs(item, namesake or (live[index] if index < len(live) else None))


def generated_in(
    text: str, live_text: str, known: Mapping[str, str], expressions: Mapping[str, str]
) -> dict[str, str] | None:
    """The values in `live_text` that the expressions of the unknown parameters may have generated, or None."""
    parts, names_seen = [], set()
    for is_name, part in _parts(text, known):
        if not is_name:
            parts.append(re.escape(part))
        elif part in names_seen:
            parts.append(f"(?P=_{part})")
        elif expressions.get(part):
            try:
                parts.append(f"(?P<_{part}>{pattern(expressions[part])})")
            except FieldError:
                return None
            names_seen.add(part)
        else:
            return None
    # All parts have a fixed length, so the search is short for any text.
    match = re.fullmatch("".join(parts), live_text)
    return {name[1:]: value for name, value in match.groupdict().items()} if match else None


def explicit_in(text: str, live_text: str, known: Mapping[str, str]) -> dict[str, str] | None:
    """The values in `live_text` of the parameters that are not known; None unless there is one way to read them."""
    parts = _parts(text, known)
    values: dict[str, str] = {}
    rest, name = live_text, ""
    if len(parts) > 1 and not parts[-1][0]:
        suffix = parts.pop()[1]
        if not rest.endswith(suffix):
            return None
        rest = rest[: len(rest) - len(suffix)]
    for is_name, part in [*parts, (False, "")]:
        if is_name and name:
            return None
        if is_name:
            name = part
            continue
        if name:
            if part and rest.count(part) != 1:
                return None
            value, _part, rest = rest.partition(part) if part else (rest, "", "")
            if values.setdefault(name, value) != value:
                return None
            name = ""
        elif rest.startswith(part):
            rest = rest[len(part) :]
        else:
            return None
    return None if rest else values


def _parts(text: str, known: Mapping[str, str]) -> list[tuple[bool, str]]:
    """The parts of a text: (True, name of a parameter) and (False, text), with the known values put in."""
    whole = WHOLE.fullmatch(text)
    split = ["", whole[1], ""] if whole else REFERENCE.split(text)
    parts: list[tuple[bool, str]] = []
    for index, part in enumerate(split):
        if index % 2 and part not in known:
            parts.append((True, part))
            continue
        literal = known[part] if index % 2 else part
        if parts and not parts[-1][0]:
            parts[-1] = (False, parts[-1][1] + literal)
        elif literal:
            parts.append((False, literal))
    return parts
