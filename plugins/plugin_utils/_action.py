"""The action of all modules: runs the module, and prints the diffs of what was written even if other objects failed.

Ansible prints no diff of a failed task.

The module runs in the process of its action where packing and sending it would change nothing. Ansible packs a module
with all it imports, writes it to a file, starts Python and unpacks it there: about a second for each task. On the
controller, with the controller's Python, the same code is already there, compiled. It runs as in a process of its own,
by `modules/adapter.py`: it gets the arguments that Ansible would send, and Ansible reads what it prints.
"""

from __future__ import annotations

import difflib
import gc
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from datetime import date
from functools import partial
from importlib import import_module
from typing import Any, Final

from ansible import constants
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.module_utils import basic
from ansible.module_utils.common import warnings
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase
from ansible.vars import clean

from ..module_utils._cluster.client.concurrency import display
from ..module_utils._cluster.client.transport import MISSING
from ..module_utils._cluster.modules import adapter
from ..module_utils._cluster.modules.module import Module
from ..module_utils._cluster.modules.options import AUTH
from ..module_utils._resolver.api import unquoted
from ._kubeconfig import on_controller

try:
    from ansible.module_utils import _internal
except ImportError:  # ansible-core 2.18 and before
    _internal = None

VARIABLE: Final = "virtshape_"
"""What the host variables of the connection begin with; the option follows."""
_CONNECTION: Final = (*AUTH, "retry_timeout")
# Options that name a cluster.
_CLUSTER: Final = ("kubeconfig", "context", "host")
SWITCH: Final = "virtshape_direct_execution"
"""The variable that turns direct execution off."""
_MODULES: Final = __package__.rpartition(".")[0] + ".modules"
# The beginnings of variables that only a new process reads.
_OF_PROCESSES: Final = ("PYTHON", "LD_")
# How ansible-core 2.19 and later encode arguments and results.
_PROFILE: Final = "legacy"


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
        environment = {**os.environ, **_environment(self)}
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
    """Hides the results of objects. Ansible takes a list `results` for those of a loop, of which ansible-core 2.19 and
    later hide only the marked ones."""
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


def execute_directly(action: ActionBase, module: str, options: Mapping[str, Any], task_vars: Mapping[str, Any]) -> Any:
    """The result of the module as Ansible's `_execute_module` returns it, or None if it needs a process of its own.

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
        _restored(_environment(action)),
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
        return f"ansible_python_interpreter is not set, and {sys.executable} lacks the Python package kubernetes"
    if interpreter not in (None, sys.executable):
        return f"ansible_python_interpreter is {interpreter}, and Ansible runs on {sys.executable}"
    return next((f"its environment has {name}" for name in _environment(action) if name.startswith(_OF_PROCESSES)), "")


def _boolean(value: Any) -> bool:
    try:
        return bool(boolean(value))
    except TypeError as error:
        raise AnsibleActionFail(f"{SWITCH}: {error}") from None


def _interpreter(action: ActionBase, task_vars: Mapping[str, Any]) -> Any:
    """The Python that is set for the module; None if Ansible would look for one, which may lack what modules need."""
    host = task_vars
    if action._task.delegate_to:
        host = (task_vars.get("ansible_delegated_vars") or {}).get(action._task.delegate_to) or {}
    configured = constants.config.get_config_value("INTERPRETER_PYTHON", variables=host)
    interpreter = action._templar.template(configured)
    return interpreter if interpreter and not str(interpreter).startswith("auto") else None


def _environment(action: ActionBase) -> dict[str, str]:
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
