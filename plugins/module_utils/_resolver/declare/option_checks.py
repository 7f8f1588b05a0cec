"""The limits of a task's options: numbers, names that select objects, and the shape of their argument spec."""

from __future__ import annotations

import ast
import json
import math
import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..api import name_rules as names
from ..api.errors import first_of
from ..api.manifest import Options
from ..api.name_rules import quoted
from ..api.tree import path_of, scan
from ..api.type_remedies import AS_TEXT, FROM_YAML, OMIT


class Bounds(NamedTuple):
    """The bounds of an integer. unit: a noun in the plural."""

    least: int
    most: int
    unit: str


# Longer than any run, and safe for every timer of the operating system.
_MONTH: Final = 30 * 24 * 3600
_SECONDS: Final = Bounds(0, _MONTH, "seconds")

NUMBERS: Final[dict[str, Bounds]] = {
    # Each request needs a thread and a connection.
    "concurrency": Bounds(1, 256, "requests"),
    "wait_timeout": _SECONDS,
    "retry_timeout": _SECONDS,
    "download_timeout": Bounds(1, _MONTH, "seconds"),
    "health_timeout": _SECONDS,
    "pause": _SECONDS,
    "grace_period": _SECONDS,
    "keep": Bounds(0, 1_000_000, "revisions"),
}
_SCALARS: Final = {"int": "a whole number", "float": "a number", "bool": "true or false"}
_LABELS: Final = ("namespace", "namespaces")
_NAMES: Final = ("name", "names")


def option_problem(options: Mapping[str, Any]) -> str | None:
    """The error in a task's own options, on one line with the remedy; None without one. It checks no lists."""
    for option, limits in NUMBERS.items():
        value = options.get(option)
        if isinstance(value, int) and not limits.least <= value <= limits.most:
            return (
                f"{option}: expected {limits.least} to {limits.most} {limits.unit}, found {quoted(value)};"
                " write a number between these"
            )
    qps = options.get("qps")
    if qps is not None and not (qps > 0 and math.isfinite(qps)):
        return f"qps: expected more than 0 requests a second, found {qps:g}; leave it out for no limit"
    for selecting, check in ((_LABELS, names.label), (_NAMES, names.subdomain)):
        for option in selecting:
            for value in _texts(options.get(option)):
                if reason := check(value) if value else "is empty":
                    return f"{option}: {quoted(value)} {reason}; write it as `kubectl get` prints it"
    return None


# More than any KubeVirt object needs, and far below Python's own limit.
DEEPEST: Final = 64
NOT_FINITE: Final = "expected a finite number such as 2"


def not_finite(value: Any) -> str | None:
    """The path of a number in JSON data that is not finite, such as YAML's `.inf` and `.nan`, or None."""
    return next((path_of(place) for place, part in scan(value) if _is_not_finite(part)), None)


def _is_not_finite(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lstrip("+-").lower() in ("inf", "infinity", "nan")
    return isinstance(value, float) and not math.isfinite(value)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def oversized(value: Any, maximum: int = 500_000) -> str | None:
    """The part of a value that is too large, or None.

    The value may contain itself or repeated parts, because of YAML's aliases. Only what these repeat counts. maximum:
    the repeated values; in all, ten times as many are permitted, for Ansible may copy what an alias repeats.
    """
    remaining = [(value, 0, False)]
    count = repeated = 0
    # Kept, so that no other part gets the identity of a freed one.
    seen: dict[int, Any] = {}
    while remaining:
        part, depth, again = remaining.pop()
        inside = part.values() if isinstance(part, Mapping) else part if isinstance(part, (list, tuple)) else ()
        again = again or (bool(inside) and id(part) in seen)
        count += 1
        repeated += again
        if depth > DEEPEST:
            return f"is nested more than {DEEPEST} levels deep or contains itself"
        if repeated > maximum:
            return f"repeats more than {maximum:,} values by aliases"
        if count > 10 * maximum:
            return f"contains more than {10 * maximum:,} values"
        if inside:
            seen[id(part)] = part
            remaining += [(entry, depth + 1, again) for entry in inside]
    return None


Spec = dict[str, Any]


def shape_problem(options: Options, spec: Spec, less_likely: Collection[str] = ()) -> str | None:
    """All of `shape_problems` on one line, or None. less_likely: options that come
    after all others in suggestions."""
    return first_of(list(shape_problems(options, spec, less_likely=less_likely))) or None


def shape_problems(options: Options, spec: Spec, path: str = "", less_likely: Collection[str] = ()) -> Iterator[str]:
    """The errors in the names of options and in the shapes of their values, each with its path.

    A dictionary without suboptions may be nested DEEPEST levels deep. Ansible rejects such values too, but without the
    path of the nested option, or with a traceback; of the truth value that YAML makes of `no` it makes `False`; and a
    misspelt option it reports as the lack of another.
    """
    for key, value in options.items():
        option = spec.get(own_name(key, spec))
        place = f"{path}{key if str(key).isidentifier() else quoted(key)}"
        if option is None:
            # Ansible passes its own settings together with the options.
            if not str(key).startswith("_ansible_"):
                yield f"{place}: unknown option{unknown_option(key, spec, less_likely)}"
        elif option.get("type") == "dict":
            yield from _dictionary_problems(place, key, value, option)
        elif option.get("type") == "list" and _is_list(value):
            yield f"{place}: expected a list, found text{FROM_YAML}"
        elif option.get("elements") == "dict":
            # Ansible splits a text at commas.
            items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
            for index, entry in enumerate(items):
                yield from _dictionary_problems(f"{place}[{index}]", "", entry, option)
        elif option.get("type") in ("int", "float") and not_finite(value) is not None:
            yield f"{place}: {NOT_FINITE}"
        elif option.get("type") in _SCALARS and isinstance(value, str) and not value.strip():
            yield f"{place}: expected {_SCALARS[option['type']]}, found an empty text{OMIT}"
        elif _is_text(option) and (found := _not_a_string(value, option)):
            yield f"{place}: expected a string, found {found}"


def unknown_option(name: str, spec: Spec, less_likely: Collection[str] = ()) -> str:
    """The end of a message about an unknown option: what it is called here, or similar names."""
    from ..._known_as import meant as meant_by

    if meant := meant_by(name, spec):
        return f"; did you mean {' or '.join(meant)}?"
    return names.did_you_mean(name, spec, less_likely=less_likely)


def _is_list(value: Any) -> bool:
    """Whether a value is the text of a list."""
    return isinstance(value, str) and value.strip()[:1] == "["


def _dictionary_problems(where: str, key: str, value: Any, option: Spec) -> Iterator[str]:
    inner = option.get("options") or {}
    if isinstance(value, str):
        parsed = _parsed(value)
        value = value if parsed is None else parsed
    if isinstance(value, dict) and inner:
        yield from shape_problems(value, inner, f"{where}.")
    elif isinstance(value, dict):
        if reason := _too_deep(where, value):
            yield reason
    elif value is not None:
        yield _not_a_dictionary(where, key, value, inner)


def _is_text(option: Spec) -> bool:
    """Whether an option takes text. Ansible itself makes `no` and `off` of a boolean if these are choices."""
    return "str" in (option.get("type"), option.get("elements")) and "choices" not in option


def _not_a_string(value: Any, option: Spec) -> str | None:
    """The kind of a value that is no string, with the remedy; None for what Ansible converts as its user means it.

    Ansible gives a dictionary as Python prints it, which cloud-init would ignore without a word.
    """
    entries = value if isinstance(value, list) and option.get("type") == "list" else [value]
    if any(isinstance(entry, bool) for entry in entries):
        return f"a boolean{AS_TEXT}"
    found = next((entry for entry in entries if isinstance(entry, (dict, list))), None)
    if found is None:
        return None
    remedy = "; write it as text" + (", or use a filter such as to_nice_yaml" if option.get("no_log") else "")
    return ("a dictionary" if isinstance(found, dict) else "a list") + remedy


def _too_deep(where: str, value: Any) -> str | None:
    """Rejects deep nesting: Ansible and the checks of objects recurse, and Python's limit would not name the option."""
    level = [value]
    for _depth in range(DEEPEST):
        level = [
            inside
            for part in level
            for inside in (part.values() if isinstance(part, dict) else part)
            if isinstance(inside, (dict, list))
        ]
        if not level:
            return None
    return f"{where}: is nested more than {DEEPEST} levels deep; no KubeVirt object is"


def _parsed(text: str) -> dict[str, Any] | None:
    """The dictionary that Ansible makes of a text: of JSON, of a Python literal, or of `key=value`; None if of none."""
    try:
        if not text.startswith("{"):
            words = shlex.shlex(text, posix=True, punctuation_chars=False)
            words.whitespace, words.whitespace_split, words.commenters = ", ", True, ""
            return dict(word.split("=", 1) for word in words) if "=" in text else None
        value = _literal(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return ast.literal_eval(text)


def _not_a_dictionary(where: str, key: str, value: Any, inner: Spec) -> str:
    main = next((name for name in ("guest", "name", "data_source", "user_data") if name in inner), None)
    may_be_secret = any(option.get("no_log") for option in inner.values())
    found = {str: "text", list: "a list", bool: "a boolean"}.get(type(value), "a number")
    if isinstance(value, str) and not value.strip():
        return f"{where}: expected a dictionary, found an empty text{OMIT}"
    shown = found if may_be_secret or main is None or isinstance(value, list) else quoted(value)
    if isinstance(value, str) and (value.lstrip()[:1] in ("{", "[") or ": " in value):
        return f"{where}: expected a dictionary, found {shown}{FROM_YAML}"
    if main is None or isinstance(value, list):
        return f"{where}: expected a dictionary, found {found}"
    return f"{where}: expected a dictionary, found {shown}; write {key and f'{key}: '}{{{main}: ...}}"


def own_name(key: str, spec: Spec) -> str:
    """The name of an option that may be an alias."""
    if key in spec:
        return key
    return next((name for name, option in spec.items() if key in (option.get("aliases") or ())), key)
