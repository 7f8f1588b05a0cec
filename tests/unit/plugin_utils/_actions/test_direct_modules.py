"""Modules that are executed directly: the condition, their input, and the traces that they leave."""

import gc
import os
import sys
from datetime import date
from typing import Any
from unittest import mock

import pytest
from ansible.errors import AnsibleActionFail
from ansible.module_utils import basic

from plugins.module_utils._cluster.client.concurrency import display
from plugins.module_utils._cluster.modules.module import Module, Params, Result
from plugins.module_utils._cluster.task import Task
from plugins.plugin_utils._actions import direct_execution
from plugins.plugin_utils._actions.action import ModuleAction

MODULE = "virtshape.instancetypes.lease"
HERE = {"ansible_python_interpreter": sys.executable}
ALONE = {**HERE, "virtshape_direct_execution": False}


class Here(ModuleAction):
    """An action as Ansible makes one for a task of localhost."""

    def __init__(self, **task: Any) -> None:
        attributes = {"async_val": 0, "delegate_to": None, "environment": [], "check_mode": True, "diff": False, **task}
        shell = mock.Mock(tmpdir=None, get_option=lambda _name: "/tmp", env_prefix=lambda **_environment: "")
        super().__init__(
            task=mock.Mock(**{"no_log": False, **attributes}),
            connection=mock.Mock(transport="local", become=None, socket_path=None, _shell=shell),
            play_context=mock.Mock(executable="/bin/sh"),
            loader=mock.Mock(),
            templar=mock.Mock(template=lambda value: value),
            shared_loader_obj=None,
        )
        self._supports_check_mode = True
        self._display = mock.Mock()

    @property
    def messages(self) -> list[str]:
        """The messages at verbosity 4."""
        return [call.args[0] for call in self._display.vvvv.call_args_list]


def execute(action: Here, task_vars: dict[str, Any] | None = None, **options: Any) -> Any:
    """The answer of `direct_execution` for a module that tells its options and environment."""

    def answer(params: Params, task: Task) -> Result:
        task.warnings += ["old", "old"]
        display.get()("half done")
        os.environ["LEFT"] = "behind"
        if params["text"] == "fail":
            return {"msg": f"failed with {params['key']}", "failed": True}
        surroundings = {"text": params["text"], "check": task.check_mode, "flavour": os.environ.get("FLAVOUR")}
        return {"changed": True, "pair": (1, 2), "key": params["key"], **surroundings}

    spec: dict[str, Any] = {"text": {"type": "str"}, "key": {"type": "str", "no_log": True}}
    module = Module({**spec, "kubeconfig": {"type": "raw"}}, answer)
    with mock.patch.object(direct_execution, "import_module", return_value=mock.Mock(MODULE=module)):
        return direct_execution.execute_directly(action, MODULE, options, HERE if task_vars is None else task_vars)


def test_a_module_is_executed_here() -> None:
    result = execute(Here(), text=date(2026, 1, 2), key="secret")
    assert {name: result[name] for name in ("changed", "text", "check", "flavour", "pair", "key")} == {
        "changed": True,
        "text": "2026-01-02",
        "check": True,
        "flavour": None,
        "pair": [1, 2],
        "key": "********",
    }


def test_a_failure_hides_secrets() -> None:
    result = execute(Here(), text="fail", key="secret")
    assert (result["failed"], result["msg"]) == (True, "failed with ********")
    assert "secret" not in str(result)


def test_state_of_the_worker_is_restored() -> None:
    before = gc.get_threshold(), dict(os.environ), basic._ANSIBLE_ARGS, sys.stdout
    kept = [str(execute(Here(), text="a")["warnings"]) for _item in range(2)]
    assert (gc.get_threshold(), dict(os.environ), basic._ANSIBLE_ARGS, sys.stdout) == before
    # The second item of a loop does not repeat the warnings of the first.
    assert kept[0] == kept[1] and kept[0].count("old") >= 1


def test_timeout_restores_the_state_of_the_worker() -> None:
    class TimedOut(BaseException):
        pass

    def answer(_params: Params, _task: Task) -> Result:
        raise TimedOut

    before = gc.get_threshold(), dict(os.environ), basic._ANSIBLE_ARGS, sys.stdout
    with (
        mock.patch.object(direct_execution, "import_module", return_value=mock.Mock(MODULE=Module({}, answer))),
        pytest.raises(TimedOut),
    ):
        direct_execution.execute_directly(Here(environment=[{"FLAVOUR": "sweet"}]), MODULE, {}, HERE)
    assert (gc.get_threshold(), dict(os.environ), basic._ANSIBLE_ARGS, sys.stdout) == before


def test_direct_execution_is_logged_and_can_be_disabled() -> None:
    direct, alone, wrong = Here(), Here(), Here()
    assert execute(direct, text="a")["changed"]
    assert direct.messages[0].startswith(f"{MODULE} is executed directly")
    assert execute(alone, ALONE, text="a") is None
    assert alone.messages == [f"{MODULE} is sent to a process of its own: virtshape_direct_execution is false"]
    with pytest.raises(AnsibleActionFail, match=r"virtshape_direct_execution: .*maybe"):
        execute(wrong, {**HERE, "virtshape_direct_execution": "maybe"}, text="a")


def test_an_invalid_option_fails() -> None:
    result = execute(Here(), txt="a")
    assert result["failed"] is True
    assert "txt" in result["msg"]


def test_output_of_a_module_is_displayed_immediately() -> None:
    action = Here()
    execute(action, text="a")
    action._display.display.assert_called_once_with("half done")
    hidden = Here(no_log=True)
    execute(hidden, text="a")
    hidden._display.display.assert_not_called()


def test_kubeconfig_is_hidden_from_the_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    # From ansible-core 2.21 on, results have the options on request.
    monkeypatch.setenv("ANSIBLE_INJECT_INVOCATION", "1")
    result = execute(Here(), text="a", kubeconfig={"users": []})["invocation"]["module_args"]
    assert (result["text"], result["kubeconfig"]) == ("a", "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER")


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
    ],
)
def test_tasks_needing_a_process_are_not_direct(task: dict[str, Any]) -> None:
    assert execute(Here(**task), text="a") is None


def test_remote_and_become_tasks_are_not_direct() -> None:
    remote = Here()
    remote._connection.transport = "ssh"
    other_user = Here()
    other_user._connection.become = mock.Mock()
    assert [execute(item, text="a") for item in (remote, other_user)] == [None, None]


def test_the_interpreter_counts() -> None:
    assert execute(Here(), {"ansible_python_interpreter": "/usr/bin/python3"}, text="a") is None
    # Ansible would look for one, and find one that lacks what is installed beside Ansible.
    for unset in ({}, {"ansible_python_interpreter": "auto_silent"}):
        assert execute(Here(), unset, text="a")["changed"]
        with mock.patch.object(direct_execution, "MISSING", "No module named 'kubernetes'"):
            assert execute(Here(), unset, text="a") is None
    assert execute(Here(delegate_to="localhost"), {"ansible_delegated_vars": {"localhost": HERE}}, text="a")["changed"]
    other = {"ansible_delegated_vars": {"elsewhere": {"ansible_python_interpreter": "/usr/bin/python3"}}}
    assert execute(Here(delegate_to="elsewhere"), {**HERE, **other}, text="a") is None


def test_keep_remote_files_disables_direct_execution() -> None:
    with mock.patch.object(direct_execution.constants, "DEFAULT_KEEP_REMOTE_FILES", True):
        assert execute(Here(), text="a") is None


def test_non_json_options_are_left_to_ansible() -> None:
    deep: list[Any] = []
    deep.append(deep)
    assert execute(Here(), text=deep) is None
