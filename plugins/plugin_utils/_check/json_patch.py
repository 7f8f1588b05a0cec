"""Patches of objects: RFC 6902, and kustomize's strategic merge for kinds without a schema, such as KubeVirt's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ...module_utils._resolver.api.tree import copy, unescaped

DIRECTIVE: Final = "$patch"
REPLACE: Final = "replace"
_DIRECTIVES: Final = (None, "merge", "delete", REPLACE)
_END: Final = "-"


class PatchError(Exception):
    """A patch does not fit its object."""


def merge_patched(value: Any, patch: Any) -> Any:
    """The value with a strategic merge patch: mappings are merged, null removes, everything else is replaced.

    None for a value that the patch deletes. Raises PatchError for an unknown directive.
    """
    if not isinstance(patch, dict):
        return copy(patch)
    directive = patch.get(DIRECTIVE)
    own = {key: part for key, part in patch.items() if key != DIRECTIVE}
    if directive not in _DIRECTIVES:
        raise PatchError(f"unknown directive {directive}")
    if directive == "delete":
        return None
    result = {} if directive == REPLACE or not isinstance(value, dict) else dict(value)
    for key, part in own.items():
        new = None if part is None else merge_patched(result.get(key), part)
        if new is None:
            result.pop(key, None)
        else:
            result[key] = new
    return result


def json_patched(value: Any, operations: Iterable[Any]) -> Any:
    """The value with the operations of RFC 6902, None if they remove it. Raises PatchError."""
    whole = {"": copy(value)}
    for operation in operations:
        try:
            _apply(whole, operation)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise PatchError(str(operation)) from error
    return whole.get("")


def _apply(whole: dict[str, Any], operation: dict[str, Any]) -> None:
    name, path = operation["op"], _steps(operation["path"])
    if name in ("move", "copy"):
        source = _steps(operation["from"])
        value = copy(_value(whole, source))
        if name == "move":
            _remove(whole, source)
        _add(whole, path, value)
    elif name == "add":
        _add(whole, path, copy(operation["value"]))
    elif name == "replace":
        _remove(whole, path)
        _add(whole, path, copy(operation["value"]))
    elif name == "remove":
        _remove(whole, path)
    elif name != "test" or _value(whole, path) != operation["value"]:
        raise ValueError(name)


def _steps(pointer: str) -> list[str]:
    return [unescaped(step) for step in pointer.split("/")]


def _value(whole: Any, steps: Iterable[str]) -> Any:
    for step in steps:
        whole = whole[int(step)] if isinstance(whole, list) else whole[step]
    return whole


def _add(whole: Any, steps: list[str], value: Any) -> None:
    parent, last = _value(whole, steps[:-1]), steps[-1]
    if isinstance(parent, list):
        parent.insert(len(parent) if last == _END else int(last), value)
    else:
        parent[last] = value


def _remove(whole: Any, steps: list[str]) -> None:
    parent, last = _value(whole, steps[:-1]), steps[-1]
    del parent[int(last) if isinstance(parent, list) else last]
