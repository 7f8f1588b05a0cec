"""The end of a task with many objects: its message, its warnings and, on failure, shortened results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

ON_FAILURE: Final[dict[str, dict[str, Any]]] = {
    "results_on_failure": {"type": "str", "choices": ["failed", "all"], "default": "failed"},
}
"""Which entries a failed task returns; see the doc fragment `on_failure`."""

# The number of failures in the task's message, and of objects in a warning; the results have all.
_TOLD = 5
# The length of each; the results have the full text.
_LONGEST = 400
# What remains of a failed object, so that the results fit on a screen.
_BRIEF = ("name", "namespace", "kind", "action", "changed", "failed", "msg")


def fail(
    module: Any,
    noun: str,
    failures: Iterable[tuple[str, str]],
    total: int,
    outcome: Mapping[str, Any],
    rest: str = "",
) -> NoReturn:
    """Fails the task.

    noun: the objects, in the plural. failures: label and reason of each failed object. total: the number of objects.
    outcome: the result; `results` keeps only the failed objects unless the option asks for all. rest: the others'
    outcome.
    """
    every = list(failures)
    longest = _LONGEST if len(every) > 1 else None
    told = "; ".join(f"{label}: {_cut(reason, longest)}" for label, reason in every[:_TOLD])
    if len(every) > _TOLD:
        told += f"; and {len(every) - _TOLD} more, see results"
    if total != 1:
        told = f"{len(every)} of {total} {noun} failed: {told}"
    shown = dict(outcome)
    if module.params["results_on_failure"] == "failed":
        shown["results"] = [_brief(one) for one in outcome["results"] if one["failed"]]
        if "result" in shown:
            shown["result"] = _brief(shown["result"])
    module.fail_json(msg=told + (f"; {rest}" if rest else ""), **shown)
    raise AssertionError("fail_json returned")


def warn(module: Any, warnings: Iterable[tuple[str, str]]) -> None:
    """Warns about objects: label and warning. Equal warnings are combined."""
    labels_of: dict[str, list[str]] = {}
    for label, warning in warnings:
        labels_of.setdefault(warning, []).append(label)
    for warning, labels in labels_of.items():
        more = f" and {len(labels) - _TOLD} more" if len(labels) > _TOLD else ""
        module.warn(f"{', '.join(labels[:_TOLD])}{more}: {warning}")


def _cut(text: str, longest: int | None) -> str:
    return text if longest is None or len(text) <= longest else f"{text[:longest]}..."


def _brief(one: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one[key] for key in _BRIEF if key in one}


def amount(count: int, noun: str) -> str:
    """`1 virtual machine`, `2 virtual machines`. noun: in the plural."""
    return f"{count} {noun if count != 1 else noun[:-1]}"


def several(counts: Mapping[str, int]) -> str:
    """`2 created, 1 unchanged`, without zero counts."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)
