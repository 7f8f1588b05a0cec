"""When a module is executed directly, and what it is given."""

from __future__ import annotations

import os
import sys
from datetime import date
from typing import Any
from unittest import mock

import pytest
from ansible.plugins.action import ActionBase

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.screen import show
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.ansible_edge import make_module
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _direct

MODULE = "virtshape.instancetypes.lease"
HERE = {"ansible_python_interpreter": sys.executable}


class Here:
    """An action as Ansible makes one for a task of localhost."""

    _compute_environment_string = ActionBase._compute_environment_string

    def __init__(self, **task: Any) -> None:
        self._task = mock.Mock(
            **{
                "async_val": 0,
                "delegate_to": None,
                "environment": [],
                "check_mode": True,
                "diff": False,
                "no_log": False,
                **task,
            }
        )
        self._connection = mock.Mock(transport="local", become=None)
        self._display = mock.Mock(verbosity=0)
        self._templar = mock.Mock(template=lambda value: value)


def execute(action: Here, task_vars: dict[str, Any] | None = None, **options: Any) -> Any:
    """What `_direct` answers for a module that tells its options and environment."""

    def main() -> None:
        spec: dict[str, Any] = {"text": {"type": "str"}, "key": {"type": "str", "no_log": True}}
        module = make_module({**spec, "kubeconfig": {"type": "raw"}})
        module.warn("old")
        show("half done")
        if module.params["text"] == "fail":
            module.fail_json(msg=f"failed with {module.params['key']}", exception="a traceback")
        asked = {"text": module.params["text"], "check": module.check_mode, "flavour": os.environ.get("FLAVOUR")}
        module.exit_json(changed=True, pair=(1, 2), key=module.params["key"], **asked)

    with mock.patch.object(_direct, "import_module", return_value=mock.Mock(main=main)):
        return _direct.execute(action, MODULE, options, HERE if task_vars is None else task_vars)  # type: ignore[arg-type]


def test_a_module_is_executed_here() -> None:
    told = execute(Here(), text=date(2026, 1, 2), key="secret")
    assert told == {
        "changed": True,
        "text": "2026-01-02",
        "check": True,
        "flavour": None,
        "pair": [1, 2],
        "key": "********",
        "warnings": ["old"],
    }


def test_a_failure_hides_secrets_and_has_no_traceback() -> None:
    told = execute(Here(), text="fail", key="secret")
    assert told == {"failed": True, "msg": "failed with ********", "warnings": ["old"]}


def test_an_invalid_option_fails() -> None:
    told = execute(Here(), txt="a")
    assert told["failed"] is True
    assert "txt" in told["msg"]


def test_what_a_module_shows_is_seen_at_once() -> None:
    action = Here()
    execute(action, text="a")
    action._display.display.assert_called_once_with("half done")
    hidden = Here(no_log=True)
    execute(hidden, text="a")
    hidden._display.display.assert_not_called()


def test_at_verbosity_3_the_options_are_shown() -> None:
    action = Here()
    action._display.verbosity = 3
    told = execute(action, text="a", kubeconfig={"users": []})["invocation"]["module_args"]
    assert (told["text"], told["kubeconfig"]) == ("a", "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER")


def test_the_environment_is_the_tasks_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAVOUR", "sour")
    assert (
        execute(Here(environment=[{"FLAVOUR": "salty"}, {"FLAVOUR": "sweet", "OTHER": 1}, None]))["flavour"] == "sweet"
    )
    assert (os.environ["FLAVOUR"], "OTHER" in os.environ) == ("sour", False)


@pytest.mark.parametrize(
    "task",
    [
        {"async_val": 10},
        {"environment": [{"PYTHONPATH": "/opt"}]},
        {"environment": [{"LD_PRELOAD": "/opt/lib.so"}]},
        {"delegate_to": "elsewhere"},
    ],
)
def test_what_needs_a_process_gets_one(task: dict[str, Any]) -> None:
    assert execute(Here(**task), text="a") is None


def test_what_is_not_here_is_sent() -> None:
    remote = Here()
    remote._connection.transport = "ssh"
    other_user = Here()
    other_user._connection.become = mock.Mock()
    assert [execute(one, text="a") for one in (remote, other_user)] == [None, None]


def test_the_interpreter_counts() -> None:
    found = {"ansible_facts": {"discovered_interpreter_python": sys.executable}}
    assert execute(Here(), {"ansible_python_interpreter": "/usr/bin/python3"}, text="a") is None
    assert execute(Here(), {}, text="a") is None
    assert execute(Here(), found, text="a")["changed"]
    assert execute(Here(delegate_to="localhost"), {"ansible_delegated_vars": {"localhost": HERE}}, text="a")["changed"]


def test_the_files_of_modules_are_kept_where_they_are_asked_for() -> None:
    with mock.patch.object(_direct.constants, "DEFAULT_KEEP_REMOTE_FILES", True):
        assert execute(Here(), text="a") is None


def test_what_json_cannot_say_is_left_to_ansible() -> None:
    deep: list[Any] = []
    deep.append(deep)
    assert execute(Here(), text=deep) is None


def test_a_warning_is_told_once_and_not_searched_among_the_others() -> None:
    class Text(str):
        compared = 0

        def __eq__(self, other: object) -> bool:
            Text.compared += 1
            return super().__eq__(other)

        __hash__ = str.__hash__

    def main() -> None:
        module = make_module({})
        for number in (*range(50), *range(50)):
            module.warn(Text(number))
        assert Text.compared <= 50
        module.exit_json()

    with mock.patch.object(_direct, "import_module", return_value=mock.Mock(main=main)):
        told = _direct.execute(Here(), MODULE, {}, HERE)  # type: ignore[arg-type]
    assert told["warnings"] == [str(number) for number in range(50)]
