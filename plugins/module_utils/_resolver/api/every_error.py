"""All errors of a value, of checks that raise the first one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from .errors import FieldError

# Nobody reads more, and each needs another pass.
_MOST: Final = 50
# The words of an object that has none of several fields.
_LACK: Final = "require"
# What takes the place of a wrong value that no object can do without.
_FILLERS: Final = {"name": "x", "metadata.name": "x"}


class Mended(NamedTuple):
    """A value without what is wrong with it.

    errors: what was wrong, in the order of the check. rest: what is left of the value. is_right: whether the check
    accepts it.
    """

    errors: list[FieldError]
    rest: Any
    is_right: bool


def every_error(check: Callable[[Any], object], value: Any) -> list[FieldError]:
    """The errors that a check raises for a value, in its order: after each one, it checks the rest of the value."""
    return mended(check, value).errors


def mended(check: Callable[[Any], object], value: Any) -> Mended:
    """The errors that a check raises for a value, and the value without what they are about."""
    found: list[FieldError] = []
    while len(found) < _MOST:
        try:
            check(value)
            return Mended(found, value, True)
        except FieldError as error:
            new = [each for each in error.all if not _follows(each, found)]
            found += new
            rest = without(value, [each.path for each in new])
            path = error.path
            while rest == value and path:
                # What is missing or empty is wrong again: the rest is checked without what it is in.
                path = path.rpartition("[" if path.endswith("]") else ".")[0]
                rest = without(value, [path])
            if rest == value:
                break
            value = rest
    return Mended(found, value, False)


def _follows(new: FieldError, found: Iterable[FieldError]) -> bool:
    """Whether an error is only about the lack of a value that was wrong before; an option may have its own path."""
    path, lacks = new.path, _LACK in new.reason
    return any(
        path == error.path or path.endswith(f".{error.path}") or (lacks and error.path.startswith(f"{path}."))
        for error in found
    )


def without(value: Any, paths: Iterable[str]) -> Any:
    """A value without what is at the paths. The entries of lists become empty, and keep their indexes."""
    for path in paths:
        value = _without(value, path, _FILLERS.get(path)) if path else value
    return value


def _without(value: Any, path: str, filler: Any) -> Any:
    if isinstance(value, Mapping):
        for key in value:
            rest = path.removeprefix(str(key)) if path.startswith(str(key)) else None
            if rest is None or rest[:1] not in ("", ".", "["):
                continue
            if not rest:
                others = {name: entry for name, entry in value.items() if name != key}
                return others if filler is None else {**others, key: filler}
            inside = _without(value[key], rest.removeprefix("."), filler)
            if inside is not value[key]:
                return {**value, key: inside}
        return value if filler is None or "." in path else {**value, path: filler}
    if isinstance(value, list) and path.startswith("["):
        number, _bracket, rest = path[1:].partition("]")
        index = int(number) if number.isdigit() else len(value)
        if index < len(value):
            entry = value[index]
            inside = _without(entry, rest.removeprefix("."), filler) if rest else _empty(entry)
            return value if inside is entry else [*value[:index], inside, *value[index + 1 :]]
    return value


def _empty(entry: Any) -> Any:
    return type(entry)() if isinstance(entry, (dict, list, str)) else None
