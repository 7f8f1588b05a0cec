"""The results of modules for several objects: counts, reasons of failures, warnings that objects share."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from ..._resolver.api.manifest import Manifest
from ..._resolver.api.name_rules import first_names, quoted
from ..client.session import Session
from ..task import Task
from .module import Params, Result

# The number of reasons in the task's message, and of objects with the same reason or warning; the results have all.
_SHOWN = 5
# The longest reason in a message; the results have the full text.
_LONGEST = 400
_LONG_NAME = 100
# The API server puts this before the words of a policy.
_POLICY: Final = r"^Validation failed for ValidatingAdmissionPolicy '[^']*' with binding '[^']*': "
# The keys kept of a failed object, so that the results fit on a screen.
_BRIEF = ("name", "namespace", "kind", "action", "changed", "failed", "msg")


def changed_result(params: Params, task: Task, noun: str, participle: str, result: dict[str, Any]) -> Result:
    """The result of a task that changes objects.

    noun: the objects' name, in the plural. participle: the verb for a change, such as `refreshed`.
    """
    results = result["results"]
    result["changed"] = any(item["changed"] for item in results)
    failed = sum(item["failed"] for item in results)
    count = sum(item["changed"] and not item["failed"] for item in results)
    unchanged = len(results) - count - failed
    if task.check_mode and count:
        participle = f"would be {participle}"
    if failed:
        return failed_result(params, noun, result, joined_counts({participle: count, "unchanged": unchanged}))
    return {**result, "msg": f"{counted_noun(len(results), noun)}: {count} {participle}, {unchanged} unchanged"}


def failed_result(
    params: Params,
    noun: str,
    result: Mapping[str, Any],
    others: str = "",
    parts: Iterable[str] = ("results",),
    more_keys: tuple[str, ...] = (),
) -> Result:
    """The result of a task some of whose objects failed.

    noun: the objects, in the plural. result: unless the option asks for all, its `results` keep only the failed
    objects, and no reason that the message has. others: a text about the other objects. parts: the lists of objects.
    more_keys: further keys of the failed objects that stay.
    """
    every = [(label(item), item["msg"]) for part in parts for item in result[part] if item["failed"]]
    message, in_message = summarize_failures(every)
    if (total := len(result["results"])) != 1:
        message = f"{len(every)} of {total} {noun} failed: {message}"
    returned = dict(result)
    if params["results_on_failure"] == "failed":
        returned["results"] = [_brief(item, in_message, more_keys) for item in result["results"] if item["failed"]]
        if "result" in returned:
            returned["result"] = _brief(returned["result"], in_message)
    return {**returned, "msg": message + (f"; {others}" if others else ""), "failed": True}


def summarize_failures(failures: Sequence[tuple[str, str]]) -> tuple[str, set[str]]:
    """(the first reasons of failures, each with the labels of its objects; the reasons that it has in full)."""
    labels_by_reason: dict[str, list[str]] = {}
    for label, reason in failures:
        labels_by_reason.setdefault(reason, []).append(label)
    first = dict(list(labels_by_reason.items())[:_SHOWN])
    longest = _LONGEST if len(failures) > 1 else None
    message = "; ".join(f"{first_names(labels, _SHOWN)}: {_cut(reason, longest)}" for reason, labels in first.items())
    if hidden := len(failures) - sum(map(len, first.values())):
        message += f"; and {hidden} more, see results"
    return message, {reason for reason in first if _cut(reason, longest) == reason}


def label(item: Mapping[str, Any]) -> str:
    """The name of an object in messages. item: the options or the result of the object."""
    parts = [str(item[part]) for part in ("namespace", "name") if item.get(part)]
    return "/".join(part if len(part) < _LONG_NAME and part.isprintable() else quoted(part) for part in parts)


def group_warnings(warnings: Iterable[tuple[str, str]]) -> list[str]:
    """Warnings about objects, given with the objects' labels: each warning once, with all its objects."""
    labels_by_warning: dict[str, dict[str, None]] = {}
    for label, warning in warnings:
        labels_by_warning.setdefault(warning, {})[label] = None
    return [f"{first_names(list(labels), _SHOWN)}: {warning}" for warning, labels in labels_by_warning.items()]


def server_warnings(sessions: Iterable[Session], told: Iterable[str] = ()) -> list[str]:
    """The warnings of the API server, each once, with its objects.

    told: warnings of the task. The checks before the requests may have said the same of the same rule.
    """
    labels: dict[str, dict[str, None]] = {}
    for session in sessions:
        for text, objects in session.warnings.items():
            labels.setdefault(text, {}).update(objects)
    every = "\n".join(told)
    news = {text: objects for text, objects in labels.items() if re.sub(_POLICY, "", text) not in every}
    return group_warnings((label, text) for text, objects in news.items() for label in sorted(objects))


def restart_warning(labels: Sequence[str], check_mode: bool, remedy: str) -> list[str]:
    """The one warning of a task whose changes have not reached all guests; none if they have.

    labels: the names of the VMs that need a restart. remedy: the option or module that restarts VMs.
    """
    vms = labels[0] if len(labels) == 1 else f"{len(labels)} VMs"
    return [f"{vms} {need_verb(len(labels), check_mode)} a restart for this; {remedy}"] if labels else []


def need_verb(count: int, check_mode: bool) -> str:
    """The verb of a sentence about objects that need something. count: the number of the objects."""
    return "would need" if check_mode else "needs" if count == 1 else "need"


def _cut(text: str, longest: int | None) -> str:
    return text if longest is None or len(text) <= longest else f"{text[:longest]}..."


def _brief(item: Mapping[str, Any], in_message: Collection[str], more_keys: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        key: item[key]
        for key in (*_BRIEF, *more_keys)
        if key in item and not (key == "msg" and item[key] in in_message)
    }


def diff_of(title: str, before: Any, after: Any, states: tuple[str, str]) -> Result:
    """A diff as Ansible prints it. states: words for the object before and after, "" for none."""
    headers = [f"{title} ({state})" if state else title for state in states]
    return {"before": before, "after": after, "before_header": headers[0], "after_header": headers[1]}


def counted_noun(count: int, noun: str) -> str:
    """`1 virtual machine`, `2 virtual machines`. noun: a noun in the plural."""
    return f"{count} {noun if count != 1 else noun[:-1]}"


def joined_counts(counts: Mapping[str, int]) -> str:
    """`2 created, 1 unchanged`, without zero counts."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def vmi_result(vmi: Manifest) -> Result:
    """The VMI of a VM, as a result has it."""
    status = vmi.get("status") or {}
    return {
        "uid": vmi["metadata"]["uid"],
        "phase": status.get("phase", ""),
        "node": status.get("nodeName", ""),
    }


def printable_status(vm: Manifest) -> str:
    """The status of a VM as `kubectl get` prints it; "" without one."""
    return str((vm.get("status") or {}).get("printableStatus", ""))
