"""The limits of a task's numbers, and of the names that select objects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from . import names
from .names import shown


class Range(NamedTuple):
    """least, most: of an integer. what: its unit, in the plural."""

    least: int
    most: int
    what: str


# Longer than any run, and safe for every timer of the operating system.
_MONTH: Final = 30 * 24 * 3600
_SECONDS: Final = Range(0, _MONTH, "seconds")

NUMBERS: Final[dict[str, Range]] = {
    # Each request needs a thread and a connection.
    "concurrency": Range(1, 256, "requests"),
    "wait_timeout": _SECONDS,
    "retry_timeout": _SECONDS,
    "download_timeout": Range(1, _MONTH, "seconds"),
    "duration": Range(1, _MONTH, "seconds"),
    "grace_period": _SECONDS,
    "keep": Range(0, 1_000_000, "revisions"),
}
_LABELS: Final = ("namespace", "namespaces")
_NAMES: Final = ("name", "names")


def problem(options: Mapping[str, Any]) -> str | None:
    """What is wrong with a task's own options, on one line with the remedy, or None. `gate` checks objects."""
    for option, limits in NUMBERS.items():
        value = options.get(option)
        if isinstance(value, int) and not limits.least <= value <= limits.most:
            return (
                f"{option}: expected {limits.least} to {limits.most} {limits.what}, found {shown(value)};"
                " write a number between these"
            )
    qps = options.get("qps")
    if qps is not None and not (qps > 0 and math.isfinite(qps)):
        return f"qps: expected more than 0 requests a second, found {qps:g}; leave it out for no limit"
    for part, check in ((_LABELS, names.label), (_NAMES, names.subdomain)):
        for option in part:
            for value in _texts(options.get(option)):
                if reason := check(value) if value else "is empty":
                    return f"{option}: {shown(value)} {reason}; write it as `kubectl get` prints it"
    return None


# More than any KubeVirt object needs, and far below Python's own limit.
DEEPEST: Final = 64
NOT_FINITE: Final = "expected a finite number such as 2"


def not_finite(value: Any, path: str = "") -> str | None:
    """The path of a number in JSON data that is not finite, such as YAML's `.inf` and `.nan`, or None."""
    if isinstance(value, str):
        return path if value.strip().lstrip("+-").lower() in ("inf", "infinity", "nan") else None
    if isinstance(value, float) and not math.isfinite(value):
        return path
    inside: Any = ()
    if isinstance(value, Mapping):
        inside = ((f"{path}.{key}" if path else str(key), entry) for key, entry in value.items())
    elif isinstance(value, list):
        inside = ((f"{path}[{index}]", entry) for index, entry in enumerate(value))
    return next((found for place, entry in inside if (found := not_finite(entry, place)) is not None), None)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def oversized(value: Any, most: int = 500_000) -> str | None:
    """What is too large in a value, or None.

    The value may contain itself or repeated parts, because of YAML's aliases.
    """
    left = [(value, 0)]
    count = 0
    while left:
        here, depth = left.pop()
        count += 1
        if depth > DEEPEST:
            return f"is nested more than {DEEPEST} levels deep or contains itself"
        if count > most:
            return f"contains more than {most:,} values with all aliases expanded"
        inside = here.values() if isinstance(here, Mapping) else here if isinstance(here, (list, tuple)) else ()
        left += [(entry, depth + 1) for entry in inside]
    return None
