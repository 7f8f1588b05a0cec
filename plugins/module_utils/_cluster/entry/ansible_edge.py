"""The AnsibleModule of all modules, and the last handler of unforeseen errors."""

from __future__ import annotations

import functools
import gc
import json
import os
import re
import select
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

try:
    # From ansible-core 2.22 on, no_log_values are not hidden.
    from ansible.module_utils.secrets import register_secrets
except ImportError:

    def register_secrets(values: Iterable[str], /) -> None:
        """Before, there is nothing to register."""


from ..._resolver.api import limits
from ..._resolver.api.errors import unforeseen
from ..._resolver.api.limits import misshapen
from ..._resolver.api.masking import without
from ..._resolver.api.names import shown
from ..client.libraries import MISSING

# The secret fields of a kubeconfig's user, and of the configuration of its auth-provider.
_SECRETS = ("token", "password", "client-key-data")
_OF_PROVIDERS: Final = ("id-token", "refresh-token", "access-token", "client-secret")
# What Ansible shows instead of a secret option.
_HIDDEN: Final = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
# Allocations before a collection of the youngest generation, and how many of them before the next older ones'.
_COLLECTIONS: Final = (100_000, 50, 1000)
_NUMBER: Final = re.compile(r"\s*[-+]?[0-9]{1,15}(\.[0-9]{0,15})?\s*", re.ASCII)
_NESTED: Final = "the options or an answer of the API server are nested more deeply than any KubeVirt object"


# Whether this run has created its module. ansible-test reads the argument spec through an exception of AnsibleModule(),
# which must not be caught.
_made = threading.Event()


def make_module(
    argument_spec: dict[str, Any],
    *,
    prepare: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    unchecked: dict[str, Any] | None = None,
    **arguments: Any,
) -> Any:
    """The AnsibleModule, with valid options and with the secrets of a kubeconfig dictionary hidden everywhere.

    prepare: turns the given options into those that Ansible validates. unchecked: specs that only tools see instead of
    argument_spec; the module validates these options itself. arguments: as for AnsibleModule.
    `given` of the result: the options as given. Fails the task if a library is missing.
    """
    given: dict[str, Any] = {}
    # Objects of the API are trees, which reference counting frees. With the default thresholds, the garbage collector
    # walks those of thousands of VMs again and again, for half of the task's time.
    gc.set_threshold(*_COLLECTIONS)

    class Module(AnsibleModule):  # type: ignore[misc]
        params: dict[str, Any]
        secrets: frozenset[str] = frozenset()

        @property
        def shows_diff(self) -> bool:
            """Whether the task has --diff."""
            return bool(self._diff)

        def _load_params(self) -> None:
            super()._load_params()
            self.argument_spec = argument_spec
            _refuse_unreadable(self.params)
            if prepare is not None:
                self.params = prepare(self.params)
            if problem := misshapen(self.params, argument_spec):
                _fail(problem)
            given.update(self.params)

        def _return_formatted(self, kwargs: dict[str, Any]) -> None:
            # Anything in a kubeconfig may be secret, such as an argument of its exec plugin.
            told = {name: _HIDDEN if _is_kubeconfig(name, value) else value for name, value in self.params.items()}
            # Ansible compares each text with each of its no_log_values, which takes minutes for those of 10,000 VMs.
            super()._return_formatted(without({"invocation": {"module_args": told}, **kwargs}, self.secrets))

        def hide(self, secrets: Iterable[str]) -> None:
            """Keeps these texts out of the result, beside the options that Ansible knows to be secret."""
            found = frozenset(map(str, secrets))
            self.secrets |= found
            register_secrets(found)

    # no_log, because the secret parts of the options are not known yet when Ansible logs them.
    try:
        shown_spec = {**argument_spec, **(unchecked or {})}
        module: Any = Module(argument_spec=shown_spec, no_log=True, supports_check_mode=True, **arguments)
    except (OverflowError, RecursionError):
        place = limits.not_finite(given)
        _fail(_NESTED if place is None else f"{place}: {limits.NOT_FINITE}")
    _made.set()
    module.given = given
    module.hide({*module.no_log_values, *_secrets(module.params.get("kubeconfig"))})
    problem = limits.problem(module.params)
    if problem:
        module.fail_json(msg=problem)
    if MISSING:
        module.fail_json(msg=missing_required_lib("kubernetes"), exception=MISSING)
    return module


def _refuse_unreadable(given: dict[str, Any]) -> None:
    """Rejects numbers that Ansible would hang on or fail on with a traceback: 1e999999999, .inf."""
    for option in (*limits.NUMBERS, "qps"):
        value = given.get(option)
        text = str(value) if isinstance(value, float) else value
        if isinstance(text, str) and not _NUMBER.fullmatch(text):
            _fail(f"{option}: expected a number, found {shown(value)}; write a number such as 16")


def last_net(run: Callable[..., None]) -> Callable[..., None]:
    """Reports an unforeseen exception as a bug in the collection, without a Python traceback."""

    @functools.wraps(run)
    def caught(*arguments: Any, **named: Any) -> None:
        _made.clear()
        _end_with_the_task()
        try:
            run(*arguments, **named)
        except RecursionError:
            _fail(_NESTED)
        except MemoryError:
            _fail("not enough memory for this many objects; split them over several tasks")
        except Exception as error:
            if not _made.is_set():
                raise
            _fail(unforeseen(error))

    return caught


def _end_with_the_task() -> None:
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
    told = json.dumps({"failed": True, "changed": False, "msg": message})
    print(f"\n{told}")  # pylint: disable=ansible-bad-function
    sys.exit(1)  # pylint: disable=ansible-bad-function


def _secrets(kubeconfig: Any) -> set[str]:
    users = kubeconfig.get("users") if isinstance(kubeconfig, dict) else None
    if not isinstance(users, list):
        return set()
    entries = [_dict(_dict(user).get("user")) for user in users]
    providers = [_dict(_dict(entry.get("auth-provider")).get("config")) for entry in entries]
    parts = [*((entry, _SECRETS) for entry in entries), *((one, _OF_PROVIDERS) for one in providers)]
    return {str(part[name]) for part, names in parts for name in names if part.get(name)}


def _is_kubeconfig(name: str, value: Any) -> bool:
    return name == "kubeconfig" and isinstance(value, dict)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
