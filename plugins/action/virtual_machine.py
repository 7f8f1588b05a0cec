# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Asks quotas and nodes about the VMs of a task before anything is sent, where the task wants that.

The modules quota_info and placement_info answer. They are run by themselves, since what they compute would make the
module virtual_machine, which is sent to the target each time, a third larger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ansible.errors import AnsibleActionFail
from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._declared import to_run
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._requests import requests_of
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._writing import WritingAction

_MODULES: Final = "virtshape.instancetypes"
_LEVELS: Final = ("strict", "warn", "off")
_SHOWN: Final = 5


class _Question(NamedTuple):
    """option: of the task. module: that answers. strict: whether a VM that does not fit fails the task."""

    option: str
    module: str
    strict: bool


class ActionModule(WritingAction):
    """The module's action."""

    def execute(self, options: dict[str, Any], tmp: Any, task_vars: Any) -> dict[str, Any]:
        asked = list(_questions(options))
        vms = to_run(options) if asked else []
        warnings: list[str] = []
        for question in asked if vms else ():
            refused = self._ask(question, vms, options, task_vars, warnings)
            if refused:
                return {"failed": True, "changed": False, "msg": refused, "warnings": warnings}
        result = super().execute(options, tmp, task_vars)
        return {**result, "warnings": [*warnings, *(result.get("warnings") or ())]} if warnings else result

    def _ask(
        self, question: _Question, vms: list[Any], options: dict[str, Any], task_vars: Any, warnings: list[str]
    ) -> str:
        """Why the task fails, "" if it does not; what is worth a warning is added to the warnings."""
        given = {**requests_of(options), "manifests": vms}
        answer = self._execute_module(
            module_name=f"{_MODULES}.{question.module}", module_args=given, task_vars=task_vars, wrap_async=False
        )
        warnings += answer.get("warnings") or ()
        if answer.get("failed"):
            problems = [str(answer.get("msg"))]
        else:
            lines = [(f"{vm['namespace']}/{vm['name']}: {vm['problem']}", vm) for vm in _unfit(answer)]
            warnings += [f"{question.option}: {line}" for line, vm in lines if not vm["judged"]]
            problems = [line for line, vm in lines if vm["judged"]]
        if not problems:
            return ""
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        told = f"{question.option}: {'; '.join(problems[:_SHOWN])}{more}"
        if question.strict:
            return f"{told}. Nothing was sent"
        warnings.append(told)
        return ""


def _questions(options: dict[str, Any]) -> Iterator[_Question]:
    quota = _level(options, "quota", "off")
    if quota != "off":
        yield _Question("quota", "quota_info", quota == "strict")
    try:
        placed = boolean(options.get("preflight_placement") or False)
    except TypeError as error:
        raise AnsibleActionFail(f"preflight_placement: {error}") from None
    preflight = _level(options, "preflight", "strict")
    if placed and preflight != "off":
        yield _Question("preflight_placement", "placement_info", preflight == "strict")


def _level(options: dict[str, Any], name: str, default: str) -> str:
    given = options.get(name)
    # A playbook that says off without quotes says false.
    level = default if given is None else "off" if given is False else str(given)
    if level not in _LEVELS:
        raise AnsibleActionFail(f"{name}: choose from {', '.join(_LEVELS)}, not {level}")
    return level


def _unfit(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [vm for vm in answer["virtual_machines"] if not vm["fits"]]
