"""Whether an answer of the API is what a scenario expects. Pure: no HTTP, no clock.

An expected object matches as a subset; objects with a key that begins with `$` are operators. README.md
of this folder says what each means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
_VARIABLE = re.compile(r"\$\{([A-Za-z0-9_.-]+)\}")

Variables = Mapping[str, str]


class UnknownVariable(Exception):
    """A scenario names a variable that no earlier step has saved."""


def substitute(value: Any, variables: Variables) -> Any:
    """The value with every `${X}` in its strings and keys replaced; raises UnknownVariable."""
    if isinstance(value, str):
        return _replace(value, variables, escape=False)
    if isinstance(value, list):
        return [substitute(entry, variables) for entry in value]
    if isinstance(value, dict):
        return {
            _replace(key, variables, escape=False): _replace(entry, variables, escape=True)
            if key == "$regex"
            else substitute(entry, variables)
            for key, entry in value.items()
        }
    return value


def _replace(text: str, variables: Variables, escape: bool) -> str:
    def of(found: re.Match[str]) -> str:
        name = found.group(1)
        if escape and name == "UUID":
            return UUID
        if escape and name == "TIME":
            return TIME
        if name not in variables:
            raise UnknownVariable(f"variable {name} has not been saved")
        return re.escape(variables[name]) if escape else variables[name]

    return _VARIABLE.sub(of, text)


def pointer(document: Any, path: str) -> Any:
    """The value at a JSON pointer (RFC 6901); raises LookupError when there is none."""
    for part in path.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document[part]
        elif isinstance(document, list):
            document = document[int(part)] if part.isdigit() else document[len(document)]
        else:
            raise LookupError(path)
    return document


def differences(expected: Any, actual: Any, path: str = "", exact: bool = False) -> list[str]:
    """What keeps `actual` from matching, one line for each place; an empty list when it matches.

    expected: with its variables already substituted. exact: objects may have no other keys.
    """
    if isinstance(expected, dict):
        if any(key.startswith("$") for key in expected):
            return _operators(expected, actual, path, exact)
        return _object(expected, actual, path, exact)
    if isinstance(expected, list):
        return _list(expected, actual, path, exact)
    return [] if _equal(expected, actual) else [_unlike(path, _text(expected), actual)]


def _equal(expected: Any, actual: Any) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, (int, float)) and isinstance(actual, (int, float)):
        return expected == actual
    return type(expected) is type(actual) and bool(expected == actual)


def _object(expected: dict[str, Any], actual: Any, path: str, exact: bool) -> list[str]:
    if not isinstance(actual, dict):
        return [_unlike(path, "an object", actual)]
    found = []
    for key, value in expected.items():
        below = f"{path}/{key}"
        if isinstance(value, dict) and value.get("$absent") is True:
            if key in actual:
                found.append(_unlike(below, "nothing", actual[key]))
        elif key not in actual:
            found.append(f"{below}: expected {_text(value)}, found nothing")
        else:
            found += differences(value, actual[key], below, exact)
    if exact:
        found += [_unlike(f"{path}/{key}", "nothing", value) for key, value in actual.items() if key not in expected]
    return found


def _list(expected: list[Any], actual: Any, path: str, exact: bool) -> list[str]:
    if not isinstance(actual, list):
        return [_unlike(path, "a list", actual)]
    if len(expected) != len(actual):
        return [_unlike(path, f"{len(expected)} entries {_text(expected)}", actual)]
    found = []
    for index, (value, entry) in enumerate(zip(expected, actual)):
        found += differences(value, entry, f"{path}/{index}", exact)
    return found


def _operators(expected: dict[str, Any], actual: Any, path: str, exact: bool) -> list[str]:
    found: list[str] = []
    for name, operand in expected.items():
        if name == "$exact":
            found += differences(operand, actual, path, True)
        elif name == "$any":
            pass
        elif name == "$regex":
            if not isinstance(actual, str) or not re.fullmatch(operand, actual):
                found.append(_unlike(path, f"text like {operand}", actual))
        elif name == "$not":
            if not differences(operand, actual, path, exact):
                found.append(_unlike(path, f"anything but {_text(operand)}", actual))
        elif name == "$set":
            found += _set(operand, actual, path, exact)
        elif name in ("$contains", "$lacks"):
            found += _members(operand, actual, path, exact, wanted=name == "$contains")
        elif name == "$absent":
            found.append(_unlike(path, "nothing", actual))
        else:
            raise ValueError(f"{path}: unknown operator {name}")
    return found


def _members(expected: list[Any], actual: Any, path: str, exact: bool, wanted: bool) -> list[str]:
    if not isinstance(actual, list):
        return [_unlike(path, "a list", actual)]
    found = []
    for value in expected:
        present = any(not differences(value, entry, path, exact) for entry in actual)
        if present is not wanted:
            found.append(_unlike(path, f"{'an' if wanted else 'no'} entry like {_text(value)}", actual))
    return found


def _set(expected: list[Any], actual: Any, path: str, exact: bool) -> list[str]:
    if not isinstance(actual, list) or len(actual) != len(expected):
        return [_unlike(path, f"in any order {_text(expected)}", actual)]
    taken: dict[int, int] = {}  # position of the actual entry -> of the expected one

    def place(index: int, tried: set[int]) -> bool:
        """Finds an entry for one expected value, moving others where needed (bipartite matching)."""
        for position, entry in enumerate(actual):
            if position not in tried and not differences(expected[index], entry, path, exact):
                tried.add(position)
                if position not in taken or place(taken[position], tried):
                    taken[position] = index
                    return True
        return False

    missing = [index for index in range(len(expected)) if not place(index, set())]
    return [_unlike(path, f"an entry like {_text(expected[index])}", actual) for index in missing]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unlike(path: str, expected: str, actual: Any) -> str:
    return f"{path or '/'}: expected {expected}, found {_text(actual)}"
