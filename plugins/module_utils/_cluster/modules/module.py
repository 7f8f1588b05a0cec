"""Modules without Ansible: their options, and how a task runs them.

The modules of this folder are values of `Module`. `adapter.py` runs them in a process of their own, or where the action
is, through `plugin_utils/_action.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._resolver.api.errors import CatalogError, FieldError
from ..client.errors import RequestFailed, TaskFailed
from ..task import Task

Params = dict[str, Any]
Result = dict[str, Any]

ON_FAILURE: Final[dict[str, dict[str, Any]]] = {
    "results_on_failure": {"type": "str", "choices": ["failed", "all"], "default": "failed"},
}
"""Which objects a failed task returns; see the doc fragment `writes`."""


class Module:
    """A module without its documentation.

    unchecked: specs that only tools see instead of argument_spec; the module validates these options itself.
    """

    def __init__(
        self,
        argument_spec: dict[str, Any],
        execute: Callable[[Params, Task], Result],
        rules: dict[str, Any] | None = None,
    ) -> None:
        """argument_spec: the argument spec of AnsibleModule.

        rules: its arguments mutually_exclusive, required_if and the like.

        execute: does the task and returns its result, a failed one with `failed` and the reason as `msg`. May raise
        TaskFailed, RequestFailed, FieldError and CatalogError.
        """
        self.argument_spec, self.rules = argument_spec, rules or {}
        self.unchecked: dict[str, Any] = {}
        self._execute = execute

    def prepare(self, params: Params) -> Params:
        """The options that Ansible validates, of those that a user writes."""
        return params

    def run(self, params: Params, task: Task) -> Result:
        """The result of a task. params: valid options."""
        try:
            return self._execute(params, task)
        except (TaskFailed, RequestFailed, FieldError, CatalogError) as error:
            return {**getattr(error, "result", {}), "msg": str(error), "failed": True}
