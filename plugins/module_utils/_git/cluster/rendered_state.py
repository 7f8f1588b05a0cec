"""The state `rendered` of modules that declare objects. The code is imported when a task asks for it."""

from __future__ import annotations

from typing import Final

from ..._cluster.modules.declaration import Declaration, TaskState
from ..._cluster.modules.module import Params, Result
from ..._cluster.task import Task
from ..._resolver.change.declared import DeclareJob


def _run(declaration: Declaration, params: Params, task: Task, jobs: list[DeclareJob]) -> Result:
    from .rendering import render

    return render(declaration, params, task, jobs)


RENDERED: Final = TaskState(
    "rendered",
    "With V(rendered), the task connects to nothing and returns the manifests of new objects as RV(rendered). All"
    " entries of a task are rendered, or none.",
    {
        "dest": {"type": "path"},
        "kubevirt_version": {"type": "str"},
        # The option says whether to keep secrets, and is none.
        "keep_secrets": {"type": "bool", "default": False, "no_log": False},
    },
    _run,
)
