"""The action of all modules: runs the module, and prints the diffs of what was written even if other objects failed.

Ansible prints no diff of a failed task.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase

from ...module_utils._cluster.modules.shared_options import AUTH
from ...module_utils._yaml import unquoted
from .direct_execution import environment_of, execute_directly, module_of
from .kubeconfig import on_controller

VARIABLE: Final = "virtshape_"
"""The prefix of the host variables of the connection, before the name of the option."""
_CONNECTION: Final = (*AUTH, "retry_timeout")
# Options that name a cluster.
_CLUSTER: Final = ("kubeconfig", "context", "host")


class ModuleAction(ActionBase):
    """An action that runs the task's module with the task's options."""

    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        self._supports_check_mode = True
        self._supports_async = True
        result: dict[str, Any] = super().run(tmp, task_vars)
        if problem := _repeated(self._task, task_vars or {}):
            raise AnsibleActionFail(problem)
        options = dict(self._task.args)
        # This cannot be checked later, because keys become texts on the way to the module.
        if yaml_problem := unquoted.problem(options):
            raise AnsibleActionFail(": ".join(filter(None, yaml_problem)))
        options = {**self._connection_variables(options, task_vars or {}), **options}
        if self._connection.transport == "local":
            options.update(self._kubeconfig(options))
        result.update(self.execute(options, tmp, task_vars))
        if self._task.no_log:
            _hide(result.get("results"))
        elif result.get("table"):
            # The result has the same, one line below the other, among all else that -v prints.
            self._display.v("\n".join(result["table"]))
        return result

    def execute(self, options: dict[str, Any], tmp: Any, task_vars: Any) -> dict[str, Any]:
        """Runs the module and returns its result."""
        result = self.run_module(self._task.action, options, task_vars, wrap_async=self._task.async_val)
        # With failed_when the task may succeed, and then Ansible prints the diffs; with no_log it prints none.
        hidden = self._task.failed_when or self._task.no_log
        if result.get("failed") and self._task.diff and not hidden:
            for text in printed_diffs(result.get("diff") or ()):
                self._display.display(text)
        return result

    def _connection_variables(self, options: Mapping[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        """The host's variables of the connection. None if the task names a cluster: they are of the host's cluster."""
        variables = {name: task_vars[VARIABLE + name] for name in _CONNECTION if VARIABLE + name in task_vars}
        if not variables or any(options.get(name) for name in _CLUSTER):
            return {}
        # Ansible leaves out omitted values only inside of other values.
        values = self._templar.template(variables)
        return {name: value for name, value in values.items() if value not in (None, "", task_vars.get("omit"))}

    def _kubeconfig(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The option kubeconfig with the paths of files of the play, or with what is encrypted with Ansible Vault."""
        spec = module_of(self._task.action).argument_spec
        if "kubeconfig" not in spec or isinstance(options.get("kubeconfig"), dict):
            return {}
        environment = {**os.environ, **environment_of(self)}
        try:
            found = on_controller(options, environment, self._loader, partial(self._find_needle, "files"))
        except AnsibleError as error:
            raise AnsibleActionFail(str(error)) from None
        return {} if found is None else {"kubeconfig": found}

    def run_module(
        self, name: str, options: dict[str, Any], task_vars: dict[str, Any], wrap_async: int = 0
    ) -> dict[str, Any]:
        """The result of a module of this collection. name: fully qualified."""
        result: dict[str, Any] | None = execute_directly(self, name, options, task_vars)
        if result is None:
            result = self._execute_module(
                module_name=name, module_args=options, task_vars=task_vars, wrap_async=wrap_async
            )
        return result


def action(name: str) -> type[ModuleAction]:
    """The action of a module, which has its name. name: qualified.

    Each module has a file with this alone, because Ansible imports an action with the module's name before it forks:
    once a play, not once a task. It keeps no compiled code of collections.
    """
    module_of(name)
    return type("ActionModule", (ModuleAction,), {"__module__": name})


def _repeated(task: Any, task_vars: Mapping[str, Any]) -> str:
    """Why a task with run_once would run more than once in its play, which takes hours for a fleet; else ""."""
    owner = task._parent
    while owner is not None and not hasattr(owner, "_play"):
        owner = owner._parent
    play = getattr(owner, "_play", None)
    hosts, batch = (len(task_vars.get(name) or ()) for name in ("ansible_play_hosts_all", "ansible_play_batch"))
    if play is None or not task.run_once or hosts < 2:
        return ""
    strategy = str(play.strategy).rpartition(".")[2]
    if strategy in ("free", "host_pinned"):
        return f"run_once: the strategy {strategy} ignores it for {hosts} hosts; set strategy: linear in the play"
    listed = task.args.get("virtual_machines")
    if play.serial and isinstance(listed, list) and batch < len(listed):
        return (
            f"run_once: with serial, each batch would run the task for all {len(listed)} VMs; choose those of the batch"
            " with ansible_play_batch, or remove serial"
        )
    return ""


def _hide(results: Any) -> None:
    """Hides the results of objects.

    Ansible takes a list `results` for the results of a loop. From 2.19 on, ansible-core hides only marked ones.
    """
    for result in results if isinstance(results, list) else ():
        if isinstance(result, dict):
            result["_ansible_no_log"] = True


def printed_diffs(diffs: Iterable[dict[str, Any]]) -> list[str]:
    """The diffs of a module as Ansible prints them."""
    texts = []
    for diff in diffs:
        before, after = (_lines(diff.get(side)) for side in ("before", "after"))
        heads = (f"before: {diff.get('before_header', '')}", f"after: {diff.get('after_header', '')}")
        texts.append("\n".join(difflib.unified_diff(before, after, *heads, lineterm="")))
    return texts


def _lines(value: Any) -> list[str]:
    return json.dumps(value, sort_keys=True, indent=4).splitlines() if value else []
