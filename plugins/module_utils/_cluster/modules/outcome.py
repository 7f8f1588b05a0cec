"""Modules without Ansible: their options, their run, and the outcome of a task.

The modules of this folder are values of `Module`. `adapter.py` runs them in a process of their own, or where the action
is, through `plugin_utils/_action.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..._resolver.api.errors import CatalogError, FieldError
from ..._resolver.api.name_rules import quoted
from ..client.errors import RequestFailed, TaskFailed

Params = dict[str, Any]
Result = dict[str, Any]

ON_FAILURE: Final[dict[str, dict[str, Any]]] = {
    "results_on_failure": {"type": "str", "choices": ["failed", "all"], "default": "failed"},
}
"""Which objects a failed task returns; see the doc fragment `writes`."""

# The number of reasons in the task's message, and of objects with the same reason or warning; the results have all.
_SHOWN = 5
# The length of each; the results have the full text.
_LONGEST = 400
_LONG_NAME = 100
# What remains of a failed object, so that the results fit on a screen.
_BRIEF = ("name", "namespace", "kind", "action", "changed", "failed", "msg", "will_run")


@dataclass
class TaskContext:
    """How a task is run, and what a module collects beside its result.

    check: whether it only foretells what it would do. diff: whether its result has diffs.
    provided: the options that the user set; the others have their defaults.
    secrets: texts to keep out of the result, to which a module adds those in options that Ansible cannot know.
    warnings: of the task, to which a module adds its own.
    """

    check: bool = False
    diff: bool = False
    provided: frozenset[str] = frozenset()
    secrets: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task.

    result: what the module returns; of a failed task, `msg` is the reason.
    """

    result: dict[str, Any]
    failed: bool = False


class Module:
    """A module without its documentation.

    unchecked: specs that only tools see instead of argument_spec; the module validates these options itself.
    """

    def __init__(
        self,
        argument_spec: dict[str, Any],
        execute: Callable[[Params, TaskContext], Outcome],
        rules: dict[str, Any] | None = None,
    ) -> None:
        """argument_spec, rules: of its options; rules are mutually_exclusive and the like, as for AnsibleModule.

        execute: does the task; raises TaskFailed.
        """
        self.argument_spec, self.rules = argument_spec, rules or {}
        self.unchecked: dict[str, Any] = {}
        self._execute = execute

    def prepare(self, params: Params) -> Params:
        """The options that Ansible validates, of those that a user writes."""
        return params

    def run(self, params: Params, task: TaskContext) -> Outcome:
        """The outcome of a task. params: valid options."""
        try:
            return self._execute(params, task)
        except (TaskFailed, RequestFailed, FieldError, CatalogError) as error:
            return Outcome({**getattr(error, "result", {}), "msg": str(error)}, failed=True)


def changed_outcome(params: Params, task: TaskContext, noun: str, word: str, result: dict[str, Any]) -> Outcome:
    """The outcome of a task that changes objects. noun: these, in the plural. word: what becomes of them."""
    results = result["results"]
    result["changed"] = any(item["changed"] for item in results)
    failed = sum(item["failed"] for item in results)
    count = sum(item["changed"] and not item["failed"] for item in results)
    word, unchanged = f"would be {word}" if task.check and count else word, len(results) - count - failed
    if failed:
        return failed_outcome(params, noun, result, joined_counts({word: count, "unchanged": unchanged}))
    return Outcome({**result, "msg": f"{counted_noun(len(results), noun)}: {count} {word}, {unchanged} unchanged"})


def failed_outcome(
    params: Params,
    noun: str,
    result: Mapping[str, Any],
    others: str = "",
    parts: Iterable[str] = ("results",),
    kept: tuple[str, ...] = (),
) -> Outcome:
    """The outcome of a task some of whose objects failed.

    noun: the objects, in the plural. result: unless the option asks for all, its `results` keep only the failed
    objects, and no reason that the message has. others: what became of the others. parts: the lists of objects.
    kept: further keys of the failed objects that stay.
    """
    every = [(label(item), item["msg"]) for part in parts for item in result[part] if item["failed"]]
    message, in_message = summarize_failures(every)
    if (total := len(result["results"])) != 1:
        message = f"{len(every)} of {total} {noun} failed: {message}"
    returned = dict(result)
    if params["results_on_failure"] == "failed":
        returned["results"] = [_brief(item, in_message, kept) for item in result["results"] if item["failed"]]
        if "result" in returned:
            returned["result"] = _brief(returned["result"], in_message)
    return Outcome({**returned, "msg": message + (f"; {others}" if others else "")}, failed=True)


def summarize_failures(failures: Sequence[tuple[str, str]]) -> tuple[str, set[str]]:
    """(the first reasons of failures, each with the labels of its objects; the reasons that it has in full)."""
    labels_by_reason: dict[str, list[str]] = {}
    for label, reason in failures:
        labels_by_reason.setdefault(reason, []).append(label)
    first = dict(list(labels_by_reason.items())[:_SHOWN])
    longest = _LONGEST if len(failures) > 1 else None
    message = "; ".join(f"{_first_labels(labels)}: {_cut(reason, longest)}" for reason, labels in first.items())
    if hidden := len(failures) - sum(map(len, first.values())):
        message += f"; and {hidden} more, see results"
    return message, {reason for reason in first if _cut(reason, longest) == reason}


def label(item: Mapping[str, Any]) -> str:
    """The name of an object in messages. item: its options or its result."""
    parts = [str(item[part]) for part in ("namespace", "name") if item.get(part)]
    return "/".join(part if len(part) < _LONG_NAME and part.isprintable() else quoted(part) for part in parts)


def group_warnings(warnings: Iterable[tuple[str, str]]) -> list[str]:
    """Warnings about objects, given with the objects' labels: each warning once, with all its objects."""
    labels_by_warning: dict[str, list[str]] = {}
    for label, warning in warnings:
        labels_by_warning.setdefault(warning, []).append(label)
    return [f"{_first_labels(labels)}: {warning}" for warning, labels in labels_by_warning.items()]


def _first_labels(labels: list[str]) -> str:
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return ", ".join(labels[:_SHOWN]) + more


def restart_warning(labels: Sequence[str], check_mode: bool, remedy: str) -> list[str]:
    """The one warning of a task that leaves guests without what it has changed; none without such VMs.

    labels: of the VMs that need a restart. remedy: what restarts them.
    """
    vms = labels[0] if len(labels) == 1 else f"{len(labels)} VMs"
    return [f"{vms} {need_verb(len(labels), check_mode)} a restart for this; {remedy}"] if labels else []


def need_verb(count: int, check_mode: bool) -> str:
    """The verb for so many objects that need something."""
    return "would need" if check_mode else "needs" if count == 1 else "need"


def _cut(text: str, longest: int | None) -> str:
    return text if longest is None or len(text) <= longest else f"{text[:longest]}..."


def _brief(item: Mapping[str, Any], in_message: Collection[str], kept: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        key: item[key] for key in (*_BRIEF, *kept) if key in item and not (key == "msg" and item[key] in in_message)
    }


def counted_noun(count: int, noun: str) -> str:
    """`1 virtual machine`, `2 virtual machines`. noun: in the plural."""
    return f"{count} {noun if count != 1 else noun[:-1]}"


def joined_counts(counts: Mapping[str, int]) -> str:
    """`2 created, 1 unchanged`, without zero counts."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)
