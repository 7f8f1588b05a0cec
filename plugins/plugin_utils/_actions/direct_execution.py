"""Runs a module in the process of its action, where packing and sending it would change nothing.

Ansible packs a module with all it imports, writes it to a file, starts Python and unpacks it there: more than a second
of CPU for each task. On the controller, with the controller's Python, the same code is already there, compiled. It runs
as in a process of its own, by `modules/adapter.py`: it gets the arguments that Ansible would send, and Ansible reads
what it prints. Nothing but time is lost without it: where a condition below is not met, Ansible sends the module.

This is the only file that uses private names of ansible-core for it.
"""

from __future__ import annotations

import gc
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from datetime import date
from importlib import import_module
from typing import Any, Final

from ansible import constants
from ansible.errors import AnsibleActionFail
from ansible.module_utils import basic
from ansible.module_utils.common import warnings
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase
from ansible.vars import clean

from ...module_utils._cluster.client.concurrency import display
from ...module_utils._cluster.client.libraries import LIBRARIES, MISSING
from ...module_utils._cluster.modules import adapter
from ...module_utils._cluster.modules.module import Module

try:
    from ansible.module_utils import _internal
except ImportError:  # ansible-core 2.18 and before
    _internal = None

SWITCH: Final = "virtshape_direct_execution"
"""The variable that turns direct execution off."""
_MODULES: Final = __package__.partition(".plugin_utils")[0] + ".modules"
# The beginnings of variables that only a new process reads.
_OF_PROCESSES: Final = ("PYTHON", "LD_")
# How ansible-core 2.19 and later encode arguments and results.
_PROFILE: Final = "legacy"


def execute_directly(action: ActionBase, module: str, options: Mapping[str, Any], task_vars: Mapping[str, Any]) -> Any:
    """The result of the module as Ansible's ``_execute_module`` returns it, or None if it needs a process of its own.

    module: its fully qualified name. At verbosity 4, a line says where it runs and why not here.
    """
    if why := _reason_to_send(action, task_vars):
        action._display.vvvv(f"{module} is sent to a process of its own: {why}")
        return None
    arguments = _arguments(action, module, options, task_vars)
    if arguments is None:
        return None
    action._display.vvvv(f"{module} is executed directly; {SWITCH}: false would send it to a process of its own")
    printed = io.StringIO()
    display.set(_hidden if action._task.no_log else action._display.display)
    with (
        _restored(environment_of(action)),
        _as_in_a_module(arguments),
        redirect_stdout(printed),
        suppress(SystemExit),
    ):
        adapter.execute(module_of(module))
    return _parsed(action, printed.getvalue())


def module_of(name: str) -> Module:
    """The Module by the qualified name of the module or its action."""
    return import_module(f"{_MODULES}.{name.rpartition('.')[2]}").MODULE  # type: ignore[no-any-return]


def _hidden(_line: str) -> None:
    """Displays nothing, for a task with no_log."""


def _reason_to_send(action: ActionBase, task_vars: Mapping[str, Any]) -> str:
    """Why the module needs a process of its own, or ""."""
    if SWITCH in task_vars and not _boolean(action._templar.template(task_vars[SWITCH])):
        return f"{SWITCH} is false"
    if action._connection.transport != "local":
        return f"the connection is {action._connection.transport}"
    if action._connection.become:
        return "become"
    if action._task.async_val:
        return "async"
    if constants.DEFAULT_KEEP_REMOTE_FILES:
        return "Ansible keeps the files of modules"
    interpreter = _interpreter(action, task_vars)
    if interpreter is None and MISSING:
        return f"ansible_python_interpreter is not set, and {sys.executable} lacks {LIBRARIES}"
    if interpreter not in (None, sys.executable):
        return f"ansible_python_interpreter is {interpreter}, and Ansible runs on {sys.executable}"
    return next(
        (f"its environment has {name}" for name in environment_of(action) if name.startswith(_OF_PROCESSES)), ""
    )


def _boolean(value: Any) -> bool:
    try:
        return bool(boolean(value))
    except TypeError as error:
        raise AnsibleActionFail(f"{SWITCH}: {error}") from None


def _interpreter(action: ActionBase, task_vars: Mapping[str, Any]) -> Any:
    """The Python interpreter set for the module; None if Ansible would discover one, which may lack libraries."""
    host = task_vars
    if action._task.delegate_to:
        host = (task_vars.get("ansible_delegated_vars") or {}).get(action._task.delegate_to) or {}
    configured = constants.config.get_config_value("INTERPRETER_PYTHON", variables=host)
    interpreter = action._templar.template(configured)
    return interpreter if interpreter and not str(interpreter).startswith("auto") else None


def environment_of(action: ActionBase) -> dict[str, str]:
    """The keyword `environment` of the play, the block and the task."""
    variables: dict[str, Any] = {}
    action._compute_environment_string(variables)
    return {name: str(value) for name, value in variables.items()}


def _arguments(
    action: ActionBase, module: str, options: Mapping[str, Any], task_vars: Mapping[str, Any]
) -> bytes | None:
    """The options and what Ansible adds to them, as a module reads them; None for what JSON cannot express."""
    arguments = dict(options)
    action._update_module_args(module, arguments, task_vars)
    try:
        return json.dumps({"ANSIBLE_MODULE_ARGS": arguments}, default=_serializable).encode()
    except (ValueError, TypeError, RecursionError):
        return None


def _serializable(value: Any) -> Any:
    """A value that is no JSON, as Ansible sends it to a module: dates, and values that a vault has encrypted."""
    return value.isoformat() if isinstance(value, date) else str(value)


@contextmanager
def _restored(environment: Mapping[str, str]) -> Iterator[None]:
    """Sets the environment. Afterwards it and the garbage collector are as before, for a worker runs a loop's items."""
    before, thresholds = dict(os.environ), gc.get_threshold()
    os.environ.update(environment)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _as_in_a_module(arguments: bytes) -> Iterator[None]:
    """ansible-core's globals as in the process of a module that has these arguments and has warned of nothing yet."""
    values: dict[tuple[Any, str], Any] = {
        (basic, "_ANSIBLE_ARGS"): arguments,
        (basic, "_ANSIBLE_PROFILE"): _PROFILE,
        (basic, "_PARSED_MODULE_ARGS"): None,
        (warnings, "_global_warnings"): type(warnings._global_warnings)(),
        (warnings, "_global_deprecations"): type(warnings._global_deprecations)(),
        # Else warnings would be shown at once, and left out of the result.
        (_internal, "is_controller"): False,
    }
    before = {(owner, name): getattr(owner, name) for owner, name in values if hasattr(owner, name)}
    for owner, name in before:
        setattr(owner, name, values[owner, name])
    try:
        yield
    finally:
        for (owner, name), value in before.items():
            setattr(owner, name, value)


def _parsed(action: ActionBase, printed: str) -> Any:
    """The result that a module has printed, as Ansible reads it."""
    process = {"rc": 0, "stdout": printed, "stderr": ""}
    result = action._parse_returned_data(process, *([_PROFILE] if hasattr(basic, "_ANSIBLE_PROFILE") else []))
    if isinstance(result, dict):
        clean.remove_internal_keys(result)
        return result
    # ansible-core 2.21 and later
    result.remove_internal_keys()
    return result.as_result_dict(for_round_trip=True)
