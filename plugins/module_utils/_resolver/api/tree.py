"""Plain JSON values as trees: copies, merges and differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

from ..secrets.redaction import redact_field
from ..secrets.secret_texts import SECRET
from .errors import FieldError
from .name_rules import quoted

T = TypeVar("T")

_SCALARS: Final = frozenset({str, int, bool, float, type(None)})


def copy(value: T) -> T:
    """A deep copy of a JSON value, several times as fast as copy.deepcopy: most values in a tree need no call."""
    if isinstance(value, dict):
        pairs = value.items()
        return {key: entry if type(entry) in _SCALARS else copy(entry) for key, entry in pairs}  # type: ignore[return-value]
    if isinstance(value, list):
        return [entry if type(entry) in _SCALARS else copy(entry) for entry in value]  # type: ignore[return-value]
    return value


def value_at(value: Any, path: Iterable[str]) -> Any:
    """The value at the end of a path of keys; None if there is none."""
    try:
        for key in path:
            value = value[key]
    except (KeyError, TypeError):
        return None
    return value


# Where a value is: the place of what it is in, and its key or index there; () for the root.
Place = tuple[Any, ...]


def scan(value: Any) -> Iterator[tuple[Place, Any]]:
    """All values in YAML data with their places, in order; each object and list once, though aliases repeat it."""
    remaining: list[tuple[Place, Any]] = [((), value)]
    visited = set()
    while remaining:
        found = remaining.pop()
        place, part = found
        if part.__class__ is not str and isinstance(part, (dict, list)):
            if id(part) in visited:
                continue
            visited.add(id(part))
            entries = part.items() if isinstance(part, dict) else enumerate(part)
            remaining += [((place, key), entry) for key, entry in entries][::-1]
        yield found


def path_of(place: Place) -> str:
    """The path to a place, such as ``volumes[0].name``."""
    path = ""
    while place:
        place, key = place
        path = (f"[{key}]" if isinstance(key, int) else f".{key}") + path
    return path.removeprefix(".")


def leaves(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """The values in a tree by their paths, below a path; objects with contents are not values."""
    result: dict[tuple[str, ...], Any] = {}
    if value and isinstance(value, dict):
        _add_leaves(result, value, path)
    else:
        result[path] = value
    return result


def _add_leaves(result: dict[tuple[str, ...], Any], node: dict[str, Any], path: tuple[str, ...]) -> None:
    for key, entry in node.items():
        below = (*path, key)
        if entry and isinstance(entry, dict):
            _add_leaves(result, entry, below)
        else:
            result[below] = entry


def set_at(target: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Sets the value at a path, and creates its parents."""
    for key in path[:-1]:
        if not isinstance(target.get(key), dict):
            target[key] = {}
        target = target[key]
    # An empty object declares only its presence; other contents stay.
    if value != {} or not isinstance(target.get(path[-1]), dict):
        target[path[-1]] = copy(value)


def remove_at(target: dict[str, Any], path: Sequence[str]) -> None:
    """Removes the value at a path, if present, and the parents that become empty."""
    inside = target.get(path[0])
    if len(path) > 1 and isinstance(inside, dict):
        remove_at(inside, path[1:])
    if len(path) == 1 or inside == {}:
        target.pop(path[0], None)


def merge(target: dict[str, Any], addition: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Adds to target (changed and returned) what it lacks; lists are concatenated, objects merged.

    Raises FieldError if both have different values for a field.
    """
    for key, value in addition.items():
        child_path = f"{path}.{key}" if path else key
        if key not in target or target[key] is None:
            target[key] = copy(value)
        elif isinstance(target[key], dict) and isinstance(value, dict):
            merge(target[key], value, child_path)
        elif isinstance(target[key], list) and isinstance(value, list):
            target[key] += copy(value)
        elif isinstance(target[key], (dict, list)) and isinstance(value, str) and key not in SECRET:
            kind = "an object" if isinstance(target[key], dict) else "a list"
            raise FieldError(child_path, f"expected {kind}, found {quoted(value)}")
        elif value is not None and target[key] != value:
            values = "" if key in SECRET else f", as {quoted(target[key])} and as {quoted(value)}"
            raise FieldError(child_path, f"is set twice{values}; remove one of them")
    return target


def apply_merge_patch(base: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """A new dict with a JSON merge patch (RFC 7386) applied. It shares unchanged parts with the base."""
    result = dict(base)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = result.get(key)
            result[key] = apply_merge_patch(below if isinstance(below, dict) else {}, value)
        else:
            result[key] = value
    return result


def merge_patch_between(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The JSON merge patch (RFC 7386) that makes `before` `after`."""
    patch: dict[str, Any] = dict.fromkeys(before.keys() - after.keys())
    for key, value in after.items():
        old = before.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            if below := merge_patch_between(old, value):
                patch[key] = below
        elif old != value:
            patch[key] = value
    return patch


def escaped(key: str) -> str:
    """A key as a JSON pointer (RFC 6901) has it."""
    return key.replace("~", "~0").replace("/", "~1")


def unescaped(key: str) -> str:
    """A key of a JSON pointer (RFC 6901)."""
    return key.replace("~1", "/").replace("~0", "~")


def reverse_merge_patch(base: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The JSON merge patch that makes `apply_merge_patch(base, patch)` the base again."""
    result: dict[str, Any] = {}
    for key, value in patch.items():
        former = base.get(key)
        result[key] = (
            reverse_merge_patch(former, value) if isinstance(former, dict) and isinstance(value, dict) else copy(former)
        )
    return result


def overlaid(below: Any, above: Any) -> Any:
    """A value on top of another: objects are merged, everything else is replaced."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return copy(above)
    return {**below, **{key: overlaid(below.get(key), value) for key, value in above.items()}}


def differences(before: Any, after: Any, path: str = "") -> list[dict[str, Any]]:
    """[{field, before, after}] in the order of fields; None for an absent value. Lists are compared as a whole."""
    if before == after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            change
            for key in sorted({*before, *after})
            for change in differences(before.get(key), after.get(key), f"{path}.{key}" if path else key)
        ]
    return [{"field": path, "before": before, "after": after}]


def shown_differences(before: Any, after: Any) -> list[dict[str, Any]]:
    """`differences` without secrets."""
    return without_secrets(differences(before, after))


def without_secrets(changes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """`differences` with secrets hidden: secrets inside a field, and fields that are secret themselves."""
    return [
        {**change, "before": shown_before, "after": shown_after}
        for change in changes
        for shown_before, shown_after in [redact_field(change["field"], change["before"], change["after"])]
    ]
