"""Modules without Ansible: their options, and how a task runs them.

The modules of this folder are values of `Module`. `adapter.py` runs them in a process of their own, or where the action
is, through `plugin_utils/_actions/direct_execution.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..client.errors import RequestFailed, TaskFailed
from ..task import Task

Params = dict[str, Any]
Result = dict[str, Any]

ON_FAILURE: Final[dict[str, dict[str, Any]]] = {
    "results_on_failure": {"type": "str", "choices": ["failed", "all"], "default": "failed"},
}
"""Which objects a failed task returns; see the doc fragment `writes`."""


@dataclass(frozen=True, eq=False, repr=False)
class Module:
    """A module without its documentation.

    argument_spec, rules: the argument spec of AnsibleModule, and its arguments mutually_exclusive and the like.
    execute: does the task with valid options and returns its result, a failed one with `failed` and the reason as
    `msg`. May raise TaskFailed, RequestFailed, FieldError and one of `errors`.
    unchecked: specs that only tools see instead of argument_spec; the module validates these options itself.
    prepare: turns the options that a user writes into the options that Ansible validates.
    """

    argument_spec: dict[str, Any]
    execute: Callable[[Params, Task], Result]
    rules: dict[str, Any] = field(default_factory=dict)
    unchecked: dict[str, Any] = field(default_factory=dict)
    prepare: Callable[[Params], Params] = lambda params: params
    errors: tuple[type[Exception], ...] = ()

    def run(self, params: Params, task: Task) -> Result:
        """The result of a task. params: valid options."""
        reported: tuple[type[Exception], ...] = (TaskFailed, RequestFailed, FieldError, *self.errors)
        try:
            return self.execute(params, task)
        except reported as error:
            return {**getattr(error, "result", {}), "msg": str(error), "failed": True}
