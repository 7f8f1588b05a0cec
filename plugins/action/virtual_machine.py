# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks quotas and nodes for the VMs of a task before anything is sent, if the task asks for it.

The module capacity_info does that. It runs separately, because its code would make the module virtual_machine, which is
sent to the target each time, a third larger; and once for each question, whose rights and answers are different ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ansible.errors import AnsibleActionFail
from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.pod.verdict import verdict
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._action import ModuleAction
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._task_options import request_options, vms_to_run

_MODULE: Final = "virtshape.instancetypes.capacity_info"
_LEVELS: Final = ("strict", "warn", "off")
_SHOWN: Final = 5


class _Question(NamedTuple):
    """option: of the task. check: of the module. strict: a VM that does not fit fails the task."""

    option: str
    check: str
    strict: bool


class _Answer(NamedTuple):
    """lines: one for each VM, from the module; empty with a failure if it could not answer."""

    question: _Question
    lines: list[dict[str, Any]]
    failure: str


class ActionModule(ModuleAction):
    """The module's action."""

    def execute(self, options: dict[str, Any], tmp: Any, task_vars: Any) -> dict[str, Any]:
        questions = list(_questions(options))
        vms = vms_to_run(options) if questions else []
        warnings: list[str] = []
        answers = [self._ask(question, vms, options, task_vars, warnings) for question in questions if vms]
        verdicts = _will_run(answers)
        refused = [text for answer in answers if (text := _refusal(answer, warnings))]
        if refused:
            message = f"{'; '.join(refused)}. Nothing was sent"
            refusing = {key for answer in answers if answer.question.strict for key in map(_key, answer.lines) if key}
            results = [_unsent(vm, key in refusing) for key, vm in verdicts.items()]
            return {"failed": True, "changed": False, "msg": message, "warnings": warnings, "results": results}
        result = super().execute(options, tmp, task_vars)
        for entry in (*(result.get("results") or ()), *([result["result"]] if result.get("result") else ())):
            vm_verdict = verdicts.get((entry.get("namespace"), entry.get("name")))
            if vm_verdict is not None:
                entry["will_run"] = vm_verdict["will_run"]
        return {**result, "warnings": [*warnings, *(result.get("warnings") or ())]} if warnings else result

    def _ask(
        self, question: _Question, vms: list[Any], options: dict[str, Any], task_vars: Any, warnings: list[str]
    ) -> _Answer:
        arguments = {**request_options(options), "manifests": vms, "checks": [question.check]}
        answer = self.run_module(_MODULE, arguments, task_vars)
        warnings += answer.get("warnings") or ()
        if answer.get("failed"):
            return _Answer(question, [], str(answer.get("msg")))
        return _Answer(question, answer["virtual_machines"], "")


def _refusal(answer: _Answer, warnings: list[str]) -> str:
    """Why the task fails, or "". Other problems are added to the warnings."""
    option = answer.question.option
    unfit = [(f"{vm['namespace']}/{vm['name']}: {vm['problem']}", vm) for vm in answer.lines if not vm["fits"]]
    warnings += [f"{option}: {line}" for line, vm in unfit if not vm["judged"]]
    problems = [answer.failure] if answer.failure else [line for line, vm in unfit if vm["judged"]]
    if not problems:
        return ""
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    message = f"{option}: {'; '.join(problems[:_SHOWN])}{more}"
    if answer.question.strict:
        return message
    warnings.append(message)
    return ""


def _will_run(answers: list[_Answer]) -> dict[tuple[str, str], dict[str, Any]]:
    """(namespace, name) → {namespace, name, will_run: {judged, fits, problem}}, for all questions together."""
    by_vm: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for vm in (vm for answer in answers for vm in answer.lines):
        by_vm.setdefault((vm["namespace"], vm["name"]), []).append(vm)
    return {key: {"namespace": key[0], "name": key[1], "will_run": verdict(lines)} for key, lines in by_vm.items()}


def _key(line: dict[str, Any]) -> tuple[str, str] | None:
    """Namespace and name of a VM that certainly does not fit, None of another."""
    return (line["namespace"], line["name"]) if line["judged"] and not line["fits"] else None


def _unsent(vm: dict[str, Any], failed: bool) -> dict[str, Any]:
    """The result of a VM of a task that sent nothing. failed: because of this VM, too."""
    why = {"msg": vm["will_run"]["problem"]} if failed else {}
    return {**vm, "kind": "VirtualMachine", "action": "none", "changed": False, "failed": failed, **why}


def _questions(options: dict[str, Any]) -> Iterator[_Question]:
    quota = _level(options, "quota", "off")
    if quota != "off":
        yield _Question("quota", "quota", quota == "strict")
    try:
        placed = boolean(options.get("preflight_placement") or False)
    except TypeError as error:
        raise AnsibleActionFail(f"preflight_placement: {error}") from None
    preflight = _level(options, "preflight", "strict")
    if placed and preflight != "off":
        yield _Question("preflight_placement", "placement", preflight == "strict")


def _level(options: dict[str, Any], name: str, default: str) -> str:
    value = options.get(name)
    # In YAML an unquoted off means false.
    level = default if value is None else "off" if value is False else str(value)
    if level not in _LEVELS:
        raise AnsibleActionFail(f"{name}: choose from {', '.join(_LEVELS)}, not {level}")
    return level
