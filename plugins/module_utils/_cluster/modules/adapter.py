"""Runs modules for Ansible: options from an AnsibleModule, the outcome printed as its result."""

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


from ..._resolver.api.errors import bug_report
from ..._resolver.api.name_rules import shown
from ..._resolver.api.redaction import mask_secrets
from ..._resolver.declare import option_checks
from ..._resolver.declare.option_checks import shape_problem
from ..client.transport import MISSING
from .outcome import Module, TaskContext

# The secret fields of a kubeconfig's user, and of the configuration of its auth-provider.
_SECRETS = ("token", "password", "client-key-data")
_PROVIDER_SECRETS: Final = ("id-token", "refresh-token", "access-token", "client-secret")
# What Ansible shows instead of a secret option.
_HIDDEN: Final = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
# Allocations before a collection of the youngest generation, and how many of them before the next older ones'.
_COLLECTIONS: Final = (100_000, 50, 1000)
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
    # walks those of thousands of VMs again and again, for half of the task's time.
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
        _fail(bug_report(error))


class _AnsibleModule(AnsibleModule):  # type: ignore[misc]
    """Validates the options of a module, and hides secrets in its result, also those of a kubeconfig dictionary."""

    params: dict[str, Any]

    def __init__(self, module: Module, provided: dict[str, Any]) -> None:
        """provided: is filled with the options as the user wrote them."""
        self._module, self._provided = module, provided
        self.secrets: frozenset[str] = frozenset()
        super().__init__(
            argument_spec={**module.argument_spec, **module.unchecked},
            # Because the secret parts of the options are not known yet when Ansible logs them.
            no_log=True,
            supports_check_mode=True,
            **module.rules,
        )
        self.hide({*self.no_log_values, *_secrets(self.params.get("kubeconfig"))})

    def _load_params(self) -> None:
        super()._load_params()
        self.argument_spec = self._module.argument_spec
        _refuse_unreadable(self.params)
        self.params = self._module.prepare(self.params)
        if problem := shape_problem(self.params, self.argument_spec):
            _fail(problem)
        self._provided.update(self.params)

    def _return_formatted(self, kwargs: dict[str, Any]) -> None:
        # Anything in a kubeconfig may be secret, such as an argument of its exec plugin.
        options = dict(self.params)
        if isinstance(options.get("kubeconfig"), dict):
            options["kubeconfig"] = _HIDDEN
        # Ansible compares each text with each of its no_log_values, which takes minutes for those of 10,000 VMs.
        super()._return_formatted(mask_secrets({"invocation": {"module_args": options}, **kwargs}, self.secrets))

    def hide(self, secrets: Iterable[str]) -> None:
        """Keeps these texts out of the result, beside the options that Ansible knows to be secret."""
        texts = frozenset(map(str, secrets))
        self.secrets |= texts
        register_secrets(texts)


def _run_task(ansible: _AnsibleModule, module: Module, provided: dict[str, Any]) -> None:
    problem = option_checks.option_problem(ansible.params)
    if problem:
        ansible.fail_json(msg=problem)
    if MISSING:
        ansible.fail_json(msg=missing_required_lib("kubernetes"), exception=MISSING)
    task = TaskContext(
        check=ansible.check_mode,
        diff=bool(ansible._diff),
        provided=frozenset(name for name, value in provided.items() if value is not None),
        secrets=set(ansible.secrets),
    )
    outcome = module.run(ansible.params, task)
    ansible.hide(task.secrets)
    for warning in task.warnings:
        ansible.warn(warning)
    if outcome.failed:
        ansible.fail_json(**outcome.result)
    ansible.exit_json(**outcome.result)


def _refuse_unreadable(options: dict[str, Any]) -> None:
    """Rejects numbers that Ansible would hang on or fail on with a traceback: 1e999999999, .inf."""
    for option in (*option_checks.NUMBERS, "qps"):
        value = options.get(option)
        text = str(value) if isinstance(value, float) else value
        if isinstance(text, str) and not _NUMBER.fullmatch(text):
            _fail(f"{option}: expected a number, found {shown(value)}; write a number such as 16")


def _exit_with_task() -> None:
    """Ends a module's own process once nobody reads its result: Ansible leaves it alone when its task has timed out."""
    try:
        place = sys.stdout.fileno()
    except (AttributeError, OSError):
        return
    mode = os.fstat(place).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return
    # Not at once: what is sent is answered, and Ansible's wrapper removes its files.
    signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit(1))  # pylint: disable=ansible-bad-function
    # Of what is asked for nothing, poll() tells errors only: the other side is closed.
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


def _secrets(kubeconfig: Any) -> set[str]:
    users = kubeconfig.get("users") if isinstance(kubeconfig, dict) else None
    if not isinstance(users, list):
        return set()
    entries = [_dict(_dict(user).get("user")) for user in users]
    providers = [_dict(_dict(entry.get("auth-provider")).get("config")) for entry in entries]
    parts = [*((entry, _SECRETS) for entry in entries), *((provider, _PROVIDER_SECRETS) for provider in providers)]
    return {str(part[name]) for part, names in parts for name in names if part.get(name)}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
