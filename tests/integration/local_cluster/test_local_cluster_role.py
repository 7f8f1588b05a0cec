"""The role as a playbook uses it: what it reports as changed, the facts it sets, check mode, one-line errors.

API servers without KubeVirt: what the role does is the same.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import ansible, played

pytestmark = pytest.mark.own_cluster

PLAY = [
    {
        "name": "Use the role",
        "hosts": "localhost",
        "gather_facts": False,
        "tasks": [
            {
                "name": "Bring the cluster into a state",
                "ansible.builtin.include_role": {"name": "virtshape.instancetypes.local_cluster"},
            },
            {
                "name": "Keep the facts",
                "ansible.builtin.copy": {
                    "dest": "{{ facts_file }}",
                    "content": "{{ [KUBECONFIG, local_cluster_kubeconfig, local_cluster_result] }}",
                    "mode": "0600",
                },
                "check_mode": False,
                "changed_when": False,
                "when": "KUBECONFIG is defined",
            },
        ],
    }
]

Play = Callable[..., tuple[int, int, str]]


@pytest.fixture
def directory(tmp_path: Path, launch: Callable[..., dict[str, Any]]) -> Iterator[Path]:
    """A state directory, whose cluster is removed after the test."""
    path = tmp_path / "cluster"
    yield path
    launch("stop", "--remove", "--dir", str(path))


@pytest.fixture
def play(tmp_path: Path, directory: Path) -> Play:
    """A function that runs the role with role variables: (tasks changed, tasks failed, what was printed)."""
    (tmp_path / "playbook.yml").write_text(yaml.safe_dump(PLAY, sort_keys=False))

    def run(*arguments: str, **variables: Any) -> tuple[int, int, str]:
        given = {"local_cluster_directory": str(directory), "local_cluster_kubevirt": False, **variables}
        extra = json.dumps({"facts_file": str(tmp_path / "facts"), **given})
        # Without the checkout's ansible.cfg, so that it does not decide how results are shown.
        _code, printed = ansible(tmp_path, "ansible-playbook", "playbook.yml", "-e", extra, *arguments, bare=True)
        recap = printed.rpartition("PLAY RECAP")[2]
        count = {name: int(value) for name, _unused, value in (word.partition("=") for word in recap.split()) if value}
        return count["changed"], count["failed"], printed

    return run


def test_the_life_of_a_cluster(play: Play, directory: Path, tmp_path: Path) -> None:
    changed, failed, printed = play()
    assert (changed, failed) == (1, 0)
    assert f"export K8S_AUTH_KUBECONFIG={directory / 'kubeconfig'}" in printed
    kubeconfig, same, result = json.loads((tmp_path / "facts").read_text())
    assert kubeconfig == same == str(directory / "kubeconfig")
    assert result["state"] == "running"
    assert play()[:2] == (0, 0)
    assert play(local_cluster_state="stopped")[:2] == (1, 0)
    assert (directory / "kubeconfig").exists()
    assert play(local_cluster_state="stopped")[:2] == (0, 0)
    assert play(local_cluster_state="absent")[:2] == (1, 0)
    assert not directory.exists()
    assert play(local_cluster_state="absent")[:2] == (0, 0)


@pytest.mark.nightly("starts a cluster; test_fault_proxy switches faults each day")
def test_faults_are_switched_without_a_restart(play: Play, directory: Path, tmp_path: Path) -> None:
    rules = [{"fault": "status", "status": 503, "rate": 0.1}]
    assert play(local_cluster_faults=True, local_cluster_fault_rules=[])[:2] == (1, 0)
    running = (directory / "run" / "control-plane.process.json").read_bytes()
    result = json.loads((tmp_path / "facts").read_text())[2]
    assert result["kubeconfig_faults"] == str(directory / "kubeconfig-faults")
    switched = {"local_cluster_faults": True, "local_cluster_fault_rules": rules, "local_cluster_fault_seed": 1}
    assert play(**switched)[:2] == (1, 0)
    assert play(**switched)[:2] == (0, 0)
    assert play(local_cluster_faults=True)[:2] == (0, 0)
    assert (directory / "run" / "control-plane.process.json").read_bytes() == running


@pytest.mark.nightly("starts two clusters; test_the_life_of_a_cluster starts one each day")
def test_several_clusters_in_a_loop(tmp_path: Path) -> None:
    role = {"name": "virtshape.instancetypes.local_cluster"}
    directories = {"local_cluster_name": "{{ item }}", "local_cluster_directory": f"{tmp_path}/{{{{ item }}}}"}
    each = {"loop": ["east", "west"], "vars": directories}
    servers = "{{ local_cluster_results | dict2items | map(attribute='value.server') | unique | length }}"
    tasks = [
        {"name": "Start both", "ansible.builtin.include_role": role, **each},
        {"name": "Look", "ansible.builtin.debug": {"msg": f"servers: {servers}"}},
        {"name": "Remove both", "ansible.builtin.include_role": role, **each},
    ]
    tasks[2] = {**tasks[2], "vars": {**directories, "local_cluster_state": "absent"}}
    book = [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]
    assert "servers: 2" in played(tmp_path, book, variables={"local_cluster_kubevirt": False}, bare=True)
    assert not (tmp_path / "east").exists()
    assert not (tmp_path / "west").exists()


@pytest.mark.nightly("starts a cluster; test_check_changes_nothing checks the launcher each day")
def test_check_mode_predicts_without_changes(play: Play, directory: Path) -> None:
    assert play("--check")[:2] == (1, 0)
    assert not directory.exists()
    play()
    running = (directory / "run" / "control-plane.process.json").read_bytes()
    assert play("--check")[:2] == (0, 0)
    assert play("--check", local_cluster_state="stopped")[:2] == (1, 0)
    assert play("--check", local_cluster_state="absent")[:2] == (1, 0)
    assert (directory / "run" / "control-plane.process.json").read_bytes() == running


INVALID: list[tuple[dict[str, Any], str]] = [
    (
        {"local_cluster_state": "up"},
        "value of local_cluster_state must be one of: started, stopped, absent, got: up",
    ),
    ({"local_cluster_name": "No"}, "name: 'No' cannot name a cluster"),
    ({"local_cluster_fault_rules": []}, "fault_rules: the cluster has no fault proxy"),
    (
        {"local_cluster_faults": True, "local_cluster_fault_rules": [{"fault": "rest"}]},
        "fault_rules[0].fault: 'rest' is not a fault; use one of latency, ",
    ),
    (
        {"local_cluster_kubernetes_version": "1.2.3"},
        "value of local_cluster_kubernetes_version must be one of: 1.34.4, got: 1.2.3",
    ),
    (
        {"local_cluster_kubevirt_version": "1.2.3"},
        "value of local_cluster_kubevirt_version must be one of: 1.9.0",
    ),
    ({"local_cluster_nodes": [{"cpu": "4"}]}, "missing required arguments: name found in local_cluster_nodes"),
    (
        {"local_cluster_python": "/no/such/python"},
        "local_cluster_python: /no/such/python cannot run the launcher: ",
    ),
    ({"local_cluster_python": "/bin/false"}, "local_cluster_python: /bin/false cannot run the launcher: "),
]
"""Options of the role, and what it says of them."""


def test_invalid_options_are_one_line(tmp_path: Path) -> None:
    """Each host of one play has another of them, so that Ansible starts once."""
    hosts = {
        f"host-{number}": {"local_cluster_directory": str(tmp_path / f"cluster-{number}"), **variables}
        for number, (variables, _message) in enumerate(INVALID)
    }
    shared = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "local_cluster_kubevirt": False,
    }
    (tmp_path / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": shared}}))
    role = {"name": "Use the role", "ansible.builtin.include_role": {"name": "virtshape.instancetypes.local_cluster"}}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": [role]}]))
    _code, printed = ansible(tmp_path, "ansible-playbook", "-i", "hosts.json", "play.yml", bare=True)
    recap = printed.rpartition("PLAY RECAP")[2]
    for number, (_variables, message) in enumerate(INVALID):
        [fatal] = [line for line in printed.splitlines() if line.startswith(f"fatal: [host-{number}]")]
        assert message in fatal
        assert re.search(rf"^host-{number} .* changed=0 .* failed=1 ", recap, re.MULTILINE), recap
        assert not (tmp_path / f"cluster-{number}").exists()
