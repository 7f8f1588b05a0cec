"""The action of boot_source prints the progress of uploads while the module runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ansible_collections.virtshape.instancetypes.plugins.action.boot_source import ActionModule
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.act.boot.progress import VARIABLE


def ran(environment: Any, transport: str = "local", async_val: int = 0) -> tuple[list[str], list[Any]]:
    """(what was printed, the task's environment) of a module that reports its progress twice."""
    task = mock.Mock(args={}, action="boot_source", async_val=async_val, diff=False, environment=environment)
    connection = mock.Mock(transport=transport)
    action = ActionModule(task, connection, mock.Mock(check_mode=False), mock.Mock(), mock.Mock(), mock.Mock())

    def execute(**_options: Any) -> dict[str, Any]:
        for part in task.environment or ():
            if VARIABLE in part:
                with Path(part[VARIABLE]).open("a") as file:
                    file.write("disk: 10 %\ndisk: 20 %\n")
        return {"changed": True}

    with (
        mock.patch.object(action, "_execute_module", side_effect=execute),
        mock.patch.object(action, "_display") as display,
    ):
        assert action.run(task_vars={})["changed"]
    return [call.args[0] for call in display.display.call_args_list], task.environment


@pytest.mark.parametrize("environment", [None, [{"A": "b"}]])
def test_what_a_module_on_this_host_reports_is_printed(environment: Any) -> None:
    printed, given = ran(environment)
    assert printed == ["disk: 10 %", "disk: 20 %"]
    assert given[:-1] == (environment or [])
    assert not Path(given[-1][VARIABLE]).exists()


def test_a_module_elsewhere_cannot_report() -> None:
    for options in ({"transport": "ssh"}, {"async_val": 60}):
        assert ran(None, **options) == ([], None)
