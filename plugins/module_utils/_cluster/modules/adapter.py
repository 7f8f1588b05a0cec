"""Runs modules for Ansible: options from an AnsibleModule, the result printed."""

from __future__ import annotations

import gc
import json
import os
import re
import select
import signal
import stat
import sys
import threading
from collections.abc import Iterable
from typing import Any, Final, NoReturn

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

try:
    # From ansible-core 2.22 on, no_log_values are not hidden.
    from ansible.module_utils.secrets import register_secrets
except ImportError:

    def register_secrets(values: Iterable[str], /) -> None:
        """Registers nothing: there is no module yet."""


from ..._resolver.api.name_rules import quoted
from ..._resolver.declare import option_checks
from ..._resolver.declare.option_checks import shape_problem
from ..._resolver.secrets.redaction import mask_secrets
from ..._resolver.secrets.secret_texts import environment_secrets, kubeconfig_secrets, option_secrets, secret_texts
from ..client.errors import TaskFailed
from ..client.kubeconfig import kubeconfig_content
from ..client.libraries import LIBRARIES, MISSING
from ..task import Task
from .module import Module
from .results import server_warnings
from .shared_options import AUTH

# The text that Ansible shows instead of a secret option.
_HIDDEN: Final = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
# Allocations before a collection of the youngest generation, and how many of them before the next older ones'.
_COLLECTIONS: Final = (100_000, 50, 1000)
# Ansible would copy the lists of a result once more, which takes a quarter of the time of our own process, to look for
# its no_log_values: in texts, where they are hidden already, and in numbers. These parts it changes.
_OF_ANSIBLE: Final = ("invocation", "warnings", "deprecations")
_OF_NUMBERS: Final = re.compile(r"[0-9.e+-]+")
_NUMBER: Final = re.compile(r"\s*[-+]?[0-9]{1,15}(\.[0-9]{0,15})?\s*", re.ASCII)
_NESTED: Final = "the options or an answer of the API server are nested more deeply than any KubeVirt object"
_TOO_MANY: Final = "not enough memory for this many objects; split them over several tasks"


def run_module(module: Module) -> None:
    """Runs a module in a process of its own."""
    _exit_with_task()
    execute(module)


def execute(module: Module) -> None:
    """Runs a module with the arguments that Ansible has set, prints its result, and raises SystemExit.

    An unforeseen exception is reported as a bug in the collection, without a Python traceback.
    """
    # Objects of the API are trees, which reference counting frees. With the default thresholds, the garbage collector
    # visits the trees of thousands of VMs again and again, which takes half of the task's time.
    gc.set_threshold(*_COLLECTIONS)
    provided: dict[str, Any] = {}
    try:
        # ansible-test reads the argument spec through an exception of AnsibleModule(), which must not be caught.
        ansible = _AnsibleModule(module, provided)
    except (OverflowError, RecursionError):
        place = option_checks.not_finite(provided)
        _fail(_NESTED if place is None else f"{place}: {option_checks.NOT_FINITE}")
    except MemoryError:
        _fail(_TOO_MANY)
    try:
        _run_task(ansible, module, provided)
    except RecursionError:
        _fail(_NESTED)
    except MemoryError:
        _fail(_TOO_MANY)
    except Exception as error:
        from ..._resolver.api.bug_report import bug_report

        _fail(bug_report(error))


class _AnsibleModule(AnsibleModule):  # type: ignore[misc]
    """Validates the options of a module, and hides secrets in its result, such as the tokens of a kubeconfig."""

    params: dict[str, Any]

    def __init__(self, module: Module, provided: dict[str, Any]) -> None:
        """Reads and validates the options. provided: gets them as the user wrote them."""
        self._module, self._provided = module, provided
        self._searched: dict[str, Any] = {}
        # This precedes all that can fail: Ansible does not know the secrets of a list's objects and of the environment.
        self.secrets: frozenset[str] = environment_secrets(os.environ)
        super().__init__(
            argument_spec={**module.argument_spec, **module.unchecked},
            # Ansible logs the options before their secret parts are known.
            no_log=True,
            supports_check_mode=True,
            **module.rules,
        )
        # Only now are the values of environment variables options.
        self._hide_options({name: self.params.get(name) for name in AUTH}, AUTH)
        self.hide(self.no_log_values)

    def _load_params(self) -> None:
        super()._load_params()
        spec = self._module.argument_spec
        self.argument_spec = spec
        self._hide_options(self.params, {**spec, **self._module.unchecked, "defaults": {"options": spec}})
        if problem := _unreadable_number(self.params):
            _fail(mask_secrets(problem, self.secrets))
        self.params = self._module.prepare(self.params)
        if problem := shape_problem(self.params, self.argument_spec, AUTH):
            _fail(mask_secrets(problem, self.secrets))
        self._provided.update(self.params)

    def _return_formatted(self, kwargs: dict[str, Any]) -> None:
        # Anything in a kubeconfig may be secret, such as an argument of its exec plugin.
        options = dict(self.params)
        if kubeconfig_content(options.get("kubeconfig")) is not None:
            options["kubeconfig"] = _HIDDEN
        # Ansible compares each text with each of its no_log_values, which takes minutes for the texts of 10,000 VMs.
        masked = mask_secrets({"invocation": {"module_args": options}, **kwargs}, self.secrets)
        if not any(map(_OF_NUMBERS.fullmatch, map(str, self.no_log_values))):
            searched = {name for name, value in masked.items() if isinstance(value, (dict, list))}
            self._searched = {name: masked.pop(name) for name in searched.difference(_OF_ANSIBLE)}
        super()._return_formatted(masked)

    def _record_module_result(self, o: dict[str, Any]) -> None:
        super()._record_module_result({**o, **self._searched})

    def jsonify(self, data: dict[str, Any]) -> Any:
        # Before ansible-core 2.19 a result ends here.
        return super().jsonify({**data, **self._searched})

    def _hide_options(self, options: dict[str, Any], spec: dict[str, Any]) -> None:
        kubeconfig = kubeconfig_secrets(kubeconfig_content(options.get("kubeconfig")))
        self.hide(secret_texts(options) | option_secrets(options, spec) | kubeconfig)

    def hide(self, secrets: Iterable[str]) -> None:
        """Keeps these texts out of the result, beside the options that Ansible knows to be secret."""
        texts = frozenset(map(str, secrets))
        self.secrets |= texts
        register_secrets(texts)


def _run_task(ansible: _AnsibleModule, module: Module, provided: dict[str, Any]) -> None:
    options = ansible.params
    if module.unchecked and options.get("state") != "absent":
        # A module that declares objects reports the name with what else is wrong.
        options = {**options, "name": None}
    problem = option_checks.option_problem(options)
    if problem:
        ansible.fail_json(msg=problem)
    if MISSING:
        ansible.fail_json(msg=missing_required_lib(LIBRARIES), exception=MISSING)
    try:
        task = Task.of(
            ansible.params,
            check_mode=ansible.check_mode,
            diff=bool(ansible._diff),
            provided=frozenset(name for name, value in provided.items() if value is not None),
            secrets=set(ansible.secrets),
        )
    except TaskFailed as error:
        ansible.fail_json(msg=str(error))
    result = module.run(ansible.params, task)
    ansible.hide(task.secrets)
    for warning in (*task.warnings, *server_warnings(task.sessions, task.warnings)):
        # Ansible hides only the secrets that it knows.
        ansible.warn(mask_secrets(warning, ansible.secrets))
    if result.get("failed"):
        ansible.fail_json(**result)
    ansible.exit_json(**result)


def _unreadable_number(options: dict[str, Any]) -> str | None:
    """Reports a number that Ansible would hang on or fail on with a traceback: 1e999999999, .inf."""
    for option in (*option_checks.NUMBERS, "qps"):
        value = options.get(option)
        text = str(value) if isinstance(value, float) else value
        if isinstance(text, str) and not _NUMBER.fullmatch(text):
            return f"{option}: expected a number, found {quoted(value)}; write a number such as 16"
    return None


def _exit_with_task() -> None:
    """Ends a module's own process once nobody reads its result: Ansible leaves it alone when its task has timed out."""
    try:
        place = sys.stdout.fileno()
    except (AttributeError, OSError):
        return
    mode = os.fstat(place).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return
    # The process ends after its requests are answered, and Ansible's wrapper has removed its files.
    signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit(1))  # pylint: disable=ansible-bad-function
    # A poll for no event reports errors only: the other side has closed the pipe.
    reader = select.poll()
    reader.register(place, 0)

    def wait() -> None:
        reader.poll()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def _fail(message: str) -> NoReturn:
    """Ends the module like fail_json, also before the AnsibleModule exists."""
    result = json.dumps({"failed": True, "changed": False, "msg": message})
    print(f"\n{result}")  # pylint: disable=ansible-bad-function
    sys.exit(1)  # pylint: disable=ansible-bad-function
