"""The addition of diagnosis to the module virtual_machine_info. The code is imported when a task asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._cluster.modules.virtual_machine_info import Addition, Asked
from ..._resolver.api.manifest import Manifest

NodeReasons = Callable[[Sequence[Manifest], Sequence[Manifest]], Callable[[Manifest], list[dict[str, Any]]]]


def diagnosis(node_reasons: NodeReasons | None = None) -> Addition:
    """The diagnosis of each VM, see `diagnosis.diagnoser`."""

    def add(asked: Asked) -> None:
        from .diagnosis import diagnoser

        found = diagnoser(node_reasons)(asked.session, asked.vms, asked.params["namespace"], asked.task.warnings)
        for shown, diagnosed in zip(asked.result["virtual_machines"], found):
            shown["diagnosis"] = diagnosed

    return Addition(add, "diagnosis")
