"""A misspelt variable of a role or playbook is refused, and none of those that there are."""

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import ansible

from plugins.plugin_utils._filter_functions.variables import unknown

CHECKOUT = Path(__file__).parents[3]
ROLES = sorted(path.name for path in (CHECKOUT / "roles").iterdir())
REPORTS = ("fleet_report", "catalog_report", "upgrade_report", "check", "modernize", "awx_setup", "estate", "diagnose")
PLAYBOOKS = [
    ("refresh_revisions", "role revision_refresh", "batchsize", "batch_size"),
    ("refresh_revisions", "role revision_refresh", "groups", "group"),
    ("virtual_machines", "role virtual_machines", "grup", "group"),
    ("deploy_catalog", "role common_instancetypes", "seris", "series"),
    ("fleet_report", "playbook fleet_report", "failif", "fail_if"),
    ("catalog_report", "playbook catalog_report", "sources", "source"),
    ("upgrade_report", "playbook upgrade_report", "version", "kubevirt_version"),
    ("check", "playbook check", "path", "paths"),
    ("modernize", "playbook modernize", "path", "paths"),
    ("estate", "playbook estate", "sourc", "source"),
    ("diagnose", "playbook diagnose", "namespace", "namespaces"),
]


def play(folder: Path, playbook: str | list[Any], **variables: Any) -> str:
    """The output of a playbook that fails, on one line."""
    if not isinstance(playbook, str):
        (folder / "play.yml").write_text(json.dumps(playbook))
        playbook = "play.yml"
    options = ("-e", json.dumps(variables))
    code, printed = ansible(folder, "ansible-playbook", playbook, *options, bare=True, KUBECONFIG="/nonexistent")
    assert code == 2, printed
    return " ".join(printed.split()).replace("''", "'")


@pytest.mark.parametrize(("playbook", "of", "wrong", "right"), PLAYBOOKS)
def test_playbooks(tmp_path: Path, playbook: str, of: str, wrong: str, right: str) -> None:
    prefix = of.split()[1]
    output = play(tmp_path, f"virtshape.instancetypes.{playbook}", **{f"{prefix}_{wrong}": "x"})
    assert f'"msg": "{prefix}_{wrong} is not a variable of the {of}; did you mean {prefix}_{right}' in output


def test_roles(tmp_path: Path) -> None:
    tasks = []
    for role in ROLES:
        name = f"virtshape.instancetypes.{role}"
        included = {"ansible.builtin.include_role": {"name": name}, "vars": {f"{role}_stat": "x", f"{role}_own": "y"}}
        tasks.append(
            {"block": [included], "rescue": [{"ansible.builtin.debug": {"msg": "{{ ansible_failed_result.msg }}"}}]}
        )
    tasks.append({"ansible.builtin.fail": {}})
    output = play(tmp_path, [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}])
    for role in ROLES:
        assert f"{role}_stat is not a variable of the role {role}; " in output
        assert f"{role}_own is not a variable of the role {role}; " in output


def test_unknown_variable_is_named_with_a_suggestion() -> None:
    known = ["x_batch_size", "x_canary"]
    assert unknown(["x_batchsize", *known], "role x", known) == [
        "x_batchsize is not a variable of the role x; did you mean x_batch_size?"
    ]
    (own,) = unknown(["x_hosts"], "role x", known)
    assert own.endswith("; choose from x_batch_size, x_canary; a variable of your own needs another prefix")
    assert unknown(["x_hosts", "x_canry"], "role x", known, near=True) == [
        "x_canry is not a variable of the role x; did you mean x_canary?"
    ]


def facts(text: str) -> set[str]:
    """Names in the list of facts that a role or playbook may have set before."""
    return {name for names in re.findall(r"facts: \[([^\]]*)\]", text) for name in names.split(", ")}


def walked(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walked(inside)


@functools.cache
def set_by(file: Path) -> set[str]:
    """Facts, results and artifacts of tasks."""
    names: set[str] = set()
    for task in walked(yaml.safe_load(file.read_text())):
        names |= {task["register"]} if isinstance(task.get("register"), str) else set()
        names |= set(task.get("ansible.builtin.set_fact") or {})
        names |= set((task.get("ansible.builtin.set_stats") or {}).get("data") or {})
    return names


PLAYS = sorted((CHECKOUT / "playbooks").glob("*.yml")) + sorted((CHECKOUT / "playbooks" / "tasks").glob("*.yml"))


@pytest.mark.parametrize("name", [*ROLES, *REPORTS])
def test_variables_set_by_tasks_are_permitted(name: str) -> None:
    files = [*sorted((CHECKOUT / "roles" / name).glob("tasks/*.yml")), *PLAYS]
    own = {variable for file in files for variable in set_by(file) if variable.startswith(f"{name}_")}
    texts = [file.read_text() for file in files if file.stem == name or file.parent.parent == CHECKOUT / "roles" / name]
    assert own == set().union(*map(facts, texts))


@pytest.mark.parametrize("role", ROLES)
def test_variables_of_the_role_are_permitted(role: str) -> None:
    folder = CHECKOUT / "roles" / role
    known = set(
        yaml.safe_load((folder / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    )
    assert set(yaml.safe_load((folder / "defaults" / "main.yml").read_text())) <= known
    known |= {"revision_refresh_group", "revision_refresh_host_prefix", "virtual_machines_group"}
    surveys = [json.loads(file.read_text()) for file in (CHECKOUT / "playbooks" / "awx" / "surveys").glob("*.json")]
    questions = {question["variable"] for survey in surveys for question in survey["spec"]}
    assert {variable for variable in questions if variable.startswith(f"{role}_")} <= known
