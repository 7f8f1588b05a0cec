"""The limit of requests a second of roles and playbooks reaches each task that asks the cluster."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import ansible

CHECKOUT = Path(__file__).parents[3]
COLLECTION = "virtshape.instancetypes"
MODULES = {f"{COLLECTION}.{path.stem}" for path in (CHECKOUT / "plugins" / "modules").glob("*.py")}
ROLES = ("common_instancetypes", "revision_refresh", "virtual_machines")
# The files of tasks, and a playbook, that run with each variable.
TASKS = {
    **{role: sorted((CHECKOUT / "roles" / role / "tasks").glob("*.yml")) for role in ROLES},
    **{
        name: [CHECKOUT / "playbooks" / f"{name}.yml"]
        for name in ("fleet_report", "catalog_report", "upgrade_report", "estate", "diagnose")
    },
}
PLAYBOOKS = {
    "common_instancetypes": ("deploy_catalog", {}),
    "revision_refresh": ("refresh_revisions", {"namespaces": "shop"}),
    "virtual_machines": ("virtual_machines", {}),
    "catalog_report": ("catalog_report", {}),
}


def tasks(node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The modules of the collection that are run below a node of YAML, with their options."""
    if isinstance(node, list):
        for entry in node:
            yield from tasks(entry)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in MODULES:
                yield key, value
            else:
                yield from tasks(value)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_the_limit(name: str) -> None:
    result = [task for path in TASKS[name] for task in tasks(yaml.safe_load(path.read_text()))]
    assert result
    for module, options in result:
        limit = options.get("qps", "")
        assert f"{name}_qps" in limit and "omit" in limit, module


@pytest.mark.parametrize("role", ROLES)
def test_without_one_there_is_no_limit(role: str) -> None:
    folder = CHECKOUT / "roles" / role
    spec = yaml.safe_load((folder / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    assert (spec[f"{role}_qps"]["type"], spec[f"{role}_qps"]["default"]) == ("float", 0)
    assert yaml.safe_load((folder / "defaults" / "main.yml").read_text())[f"{role}_qps"] == 0


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_the_module_gets_it(name: str, tmp_path: Path) -> None:
    playbook, variables = PLAYBOOKS[name]
    extra = {f"{name}_{option}": value for option, value in {**variables, "qps": "-1.5"}.items()}
    inventory = tmp_path / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": {"web": {"virtual_machine": {"namespace": "shop"}}}}}))
    options = ("-i", str(inventory), "-e", json.dumps(extra))
    code, printed = ansible(tmp_path, "ansible-playbook", f"{COLLECTION}.{playbook}", *options)
    output = " ".join(printed.split())
    assert code == 2, output
    assert "qps: expected more than 0 requests a second, found -1.5; leave it out for no limit" in output
