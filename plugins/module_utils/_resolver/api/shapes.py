"""Whether options have the shape of their argument spec: dictionaries and finite numbers."""

from __future__ import annotations

from typing import Any

from .limits import DEEPEST, NOT_FINITE, not_finite
from .names import shown

Options = dict[str, Any]
Spec = dict[str, Any]


def misshapen(options: Options, spec: Spec, path: str = "") -> str | None:
    """What is wrong with an option that takes a number, a dictionary or a list of dictionaries, with its path, or None.

    A dictionary without suboptions may be nested DEEPEST levels deep. Ansible rejects such values too, but without the
    path of the nested option, or with a traceback.
    """
    for key, value in options.items():
        option = spec.get(own_name(key, spec)) or {}
        place = f"{path}{key}"
        if option.get("type") == "dict":
            entries = [(place, value)]
        elif option.get("elements") == "dict":
            given = value if isinstance(value, list) else [value]
            entries = [(f"{place}[{index}]", entry) for index, entry in enumerate(given)]
            key = ""
        elif option.get("type") in ("int", "float") and not_finite(value) is not None:
            return f"{place}: {NOT_FINITE}"
        else:
            continue
        for where, entry in entries:
            inner = option.get("options") or {}
            if isinstance(entry, dict):
                found = misshapen(entry, inner, f"{where}.") if inner else _too_deep(where, entry)
            else:
                found = None if _is_readable(entry) else _no_dictionary(where, key, entry, inner)
            if found:
                return found
    return None


def _too_deep(where: str, value: Any) -> str | None:
    """Rejects deep nesting: Ansible and the checks of objects recurse, and Python's limit would not name the option."""
    level = [value]
    for _depth in range(DEEPEST):
        level = [
            inside
            for here in level
            for inside in (here.values() if isinstance(here, dict) else here)
            if isinstance(inside, (dict, list))
        ]
        if not level:
            return None
    return f"{where}: is nested more than {DEEPEST} levels deep; no KubeVirt object is"


def _is_readable(value: Any) -> bool:
    """Whether the value is None, or text that Ansible may parse as a dictionary."""
    return value is None or (isinstance(value, str) and bool(set(value) & set("{=")))


def _no_dictionary(where: str, key: str, value: Any, inner: Spec) -> str:
    main = next((name for name in ("guest", "name", "data_source") if name in inner), None)
    if not isinstance(value, (str, int)) or main is None or any(option.get("no_log") for option in inner.values()):
        kind = {str: "text", list: "a list", bool: "a truth value"}.get(type(value), "a number")
        return f"{where}: expected a dictionary, found {kind}"
    return f"{where}: expected a dictionary, found {shown(value)}; write {key and f'{key}: '}{{{main}: ...}}"


def own_name(key: str, spec: Spec) -> str:
    """The name of an option that may be an alias."""
    if key in spec:
        return key
    return next((name for name, option in spec.items() if key in (option.get("aliases") or ())), key)
