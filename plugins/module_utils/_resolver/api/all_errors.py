"""All errors of a value, of checks that raise the first one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from .errors import FieldError

# Nobody reads more, and each needs another pass.
_MOST: Final = 50
# The message has this word if an object has none of several fields.
_LACK: Final = "require"
# These replace wrong values that no object can do without.
_FILLERS: Final = {"name": "x", "metadata.name": "x"}


class CollectedErrors(NamedTuple):
    """The errors of a value, and the rest of it.

    errors: the errors in the order of the check. rest: the value without the wrong fields. is_valid: whether the check
    accepts the rest.
    """

    errors: list[FieldError]
    rest: Any
    is_valid: bool


def all_errors(check: Callable[[Any], object], value: Any) -> list[FieldError]:
    """The errors that a check raises for a value, in its order: after each one, it checks the rest of the value."""
    return collect_errors(check, value).errors


def collect_errors(check: Callable[[Any], object], value: Any) -> CollectedErrors:
    """Checks a value again and again, each time without the fields that were wrong."""
    found: list[FieldError] = []
    while len(found) < _MOST:
        try:
            check(value)
            return CollectedErrors(found, value, True)
        except FieldError as error:
            new = [each for each in error.all if not _is_consequence(each, found)]
            found += new
            rest = without_fields(value, [each.path for each in new])
            path = error.path
            while rest == value and path:
                # A missing or empty value would be wrong again: the check goes on without its parent.
                path = path.rpartition("[" if path.endswith("]") else ".")[0]
                rest = without_fields(value, [path])
            if rest == value:
                break
            value = rest
    return CollectedErrors(found, value, False)


def _is_consequence(new: FieldError, found: Iterable[FieldError]) -> bool:
    """Whether an error is only about the lack of a value that was wrong before; an option may have its own path."""
    path, lacks = new.path, _LACK in new.reason
    return any(
        path == error.path or path.endswith(f".{error.path}") or (lacks and error.path.startswith(f"{path}."))
        for error in found
    )


def without_fields(value: Any, paths: Iterable[str]) -> Any:
    """The value without the fields at the paths. Items of lists become empty, and keep their indexes."""
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
