# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Direct execution: runs a module in the process of its action where packing and sending it would change nothing.

Ansible packs a module with all it imports, writes it to a file, starts Python and unpacks it there: about a second for
each task. On the controller, with the controller's Python, the same code is already there, compiled.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from importlib import import_module
from typing import Any, ClassVar, Final, NoReturn

from ansible import constants
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.warnings import get_warning_messages
from ansible.plugins.action import ActionBase

# libraries and objects are imported before Ansible forks, so that the tasks of a play share the time that it takes.
from ..module_utils._cluster.client import libraries  # noqa: F401  # pylint: disable=unused-import
from ..module_utils._cluster.client.screen import shown_by
from ..module_utils._cluster.entry import objects  # noqa: F401  # pylint: disable=unused-import
from ..module_utils._cluster.entry.ansible_edge import DIRECT
from ..module_utils._resolver.api.redaction import without

_MODULES: Final = __package__.rpartition(".")[0] + ".modules"
# What only a new process reads.
_OF_PROCESSES: Final = ("PYTHON", "LD_")
# The verbosity from which Ansible shows the options that a module was given.
_SHOWS_INVOCATION: Final = 3


class _Ended(SystemExit):
    """The end of a module. result: what it would print."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__(1 if result.get("failed") else 0)
        self.result = result


class _DirectModule(AnsibleModule):  # type: ignore[misc]
    """An AnsibleModule that neither reads standard input nor writes standard output."""

    given: ClassVar[dict[str, Any]]
    """The task's options, and Ansible's own (`_ansible_*`)."""

    def _load_params(self) -> None:
        self.params: dict[str, Any] = dict(self.given)
        # AnsibleModule.warn() would, since ansible-core 2.19, show warnings at once and leave them out of the result.
        self._warnings: dict[str, None] = {}

    def warn(self, warning: str, **_more: Any) -> None:
        self._warnings[warning] = None

    def exit_json(self, **result: Any) -> NoReturn:
        told = {**result, "warnings": list(self._warnings)} if self._warnings else result
        if self._verbosity >= _SHOWS_INVOCATION:
            told = {**told, "invocation": {"module_args": self.told_params()}}
        self.end(without(told, map(str, self.no_log_values)) if self.no_log_values else told)

    def fail_json(self, msg: str, **result: Any) -> NoReturn:
        result.pop("exception", None)
        self.exit_json(**{**result, "failed": True, "msg": str(msg)})

    def told_params(self) -> dict[str, Any]:
        """The options as Ansible may show them."""
        return self.params

    @staticmethod
    def end(result: dict[str, Any]) -> NoReturn:
        raise _Ended(result)


def execute(action: ActionBase, module: str, options: Mapping[str, Any], task_vars: Mapping[str, Any]) -> Any:
    """The result of the module, or None if it needs a process of its own.

    module: its fully qualified name. That is: the connection is local, without become or async, the host's interpreter
    is the one that runs Ansible, and Ansible is not asked to keep the module's file.
    """
    if not _is_here(action, task_vars):
        return None
    environment = _environment(action)
    if any(name.startswith(_OF_PROCESSES) for name in environment):
        return None
    try:
        given = json.loads(json.dumps(options, default=_plain))
    except (ValueError, TypeError, RecursionError):
        return None
    asked = {
        **given,
        "_ansible_check_mode": bool(action._task.check_mode),
        "_ansible_diff": bool(action._task.diff),
        "_ansible_verbosity": action._display.verbosity,
        "_ansible_module_name": module,
    }
    before = set(get_warning_messages())
    with _set(environment), shown_by(_hidden if action._task.no_log else action._display.display):
        result = _result(module, asked)
    # ansible-core 2.19 and later show at once what Ansible's own code warns of; the others leave it here.
    if late := [text for text in get_warning_messages() if text not in before]:
        result["warnings"] = [*result.get("warnings", ()), *late]
    return result


def _hidden(_line: str) -> None:
    """The screen of a task with no_log."""


def _result(module: str, asked: dict[str, Any]) -> dict[str, Any]:
    token = DIRECT.set(type("DirectModule", (_DirectModule,), {"given": asked}))
    try:
        import_module(f"{_MODULES}.{module.rpartition('.')[2]}").main()
    except _Ended as end:
        result: dict[str, Any] = json.loads(json.dumps(end.result))
        return result
    finally:
        DIRECT.reset(token)
    raise AssertionError(f"{module} returned without a result")


def _is_here(action: ActionBase, task_vars: Mapping[str, Any]) -> bool:
    return (
        action._connection.transport == "local"
        and not action._connection.become
        and not action._task.async_val
        and not constants.DEFAULT_KEEP_REMOTE_FILES
        and _interpreter(action, task_vars) == sys.executable
    )


def _interpreter(action: ActionBase, task_vars: Mapping[str, Any]) -> Any:
    """The Python that Ansible would start for the module; one that it would have to look for is not known."""
    host = task_vars
    if action._task.delegate_to:
        host = (task_vars.get("ansible_delegated_vars") or {}).get(action._task.delegate_to) or {}
    asked = constants.config.get_config_value("INTERPRETER_PYTHON", variables=host)
    found = action._templar.template(asked)
    if found and not str(found).startswith("auto"):
        return found
    return (host.get("ansible_facts") or {}).get("discovered_interpreter_python")


def _environment(action: ActionBase) -> dict[str, str]:
    """The keyword `environment` of the play, the block and the task."""
    found: dict[str, Any] = {}
    action._compute_environment_string(found)
    return {name: str(value) for name, value in found.items()}


@contextmanager
def _set(environment: Mapping[str, str]) -> Iterator[None]:
    # A worker runs all items of a loop.
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _plain(value: Any) -> Any:
    """What is no JSON, as Ansible sends it to a module: dates, and values that a vault has encrypted."""
    return value.isoformat() if isinstance(value, date) else str(value)
