"""The filters' EXAMPLES run as they are written, and ansible-doc shows every filter."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from ansible_environment import surroundings
from loaded_filters import FILTERS

CHECKOUT = Path(__file__).resolve().parents[3]
DOCUMENTED = {path.stem: yaml.safe_load(path.read_text()) for path in (CHECKOUT / "plugins" / "filter").glob("*.yml")}

# The examples read this from files.
CATALOG = [
    {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": name},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": "4Gi"}},
    }
    for name in ("u1.medium", "m1.small")
]


DEFINITION = {
    "series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}, "large": {"cpu": 4, "memory": "8Gi"}}}}
}


def run(command: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = surroundings(ANSIBLE_LOCALHOST_WARNING="false", ANSIBLE_INVENTORY_UNPARSED_WARNING="false")
    program = Path(sys.executable).with_name(command)
    return subprocess.run(
        [str(program), *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )


def tasks(name: str) -> list[dict[str, Any]]:
    """The tasks of a filter's examples. A task that would ask a cluster is only shown: its arguments hold the filter.

    A filter of our own roles and playbooks has none: these are its examples.
    """
    examples = DOCUMENTED[name].get("EXAMPLES", "[]")
    assert name.startswith("_") == (examples == "[]")
    result: list[dict[str, Any]] = yaml.safe_load(examples)
    for task in result:
        for module in [key for key in task if key.startswith("virtshape.")]:
            task["ansible.builtin.debug"] = {"msg": task.pop(module)}
    return result


def test_documented_results_are_returned(tmp_path: Path) -> None:
    for file in ("catalog.yml", "bundle.yaml"):
        (tmp_path / file).write_text(yaml.safe_dump_all(CATALOG))
    (tmp_path / "acme.yml").write_text(yaml.safe_dump(DEFINITION))
    plays = [{"hosts": "localhost", "gather_facts": False, "name": name, "tasks": tasks(name)} for name in DOCUMENTED]
    (tmp_path / "playbook.yml").write_text(yaml.safe_dump(plays))
    answer = run("ansible-playbook", "playbook.yml", cwd=tmp_path)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "WARNING" not in answer.stderr


def test_ansible_doc(tmp_path: Path) -> None:
    names = sorted(f"virtshape.instancetypes.{name}" for name in DOCUMENTED)
    answer = run("ansible-doc", "--type", "filter", "--json", *names, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    result = json.loads(answer.stdout)
    assert sorted(result) == names
    for name, entry in result.items():
        assert entry["doc"]["options"]["_input"]["required"], name
        assert (entry["examples"] or "._" in name) and entry["return"]["_value"]["description"], name


def test_each_filter_is_documented_under_its_name() -> None:
    names = [content["DOCUMENTATION"]["name"] for content in DOCUMENTED.values()]
    assert names == list(DOCUMENTED)
    assert sorted(names) == sorted(FILTERS)
