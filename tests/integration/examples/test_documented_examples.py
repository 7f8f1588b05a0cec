"""Every example of the documentation is valid, and does what it shall on a cluster.

All are parsed, and the options of every task are held against the module's own. Each page whose examples can run has a
local cluster of its own; they run in the order of the page, so that an example may build on the ones before it.
"""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import surroundings

from documented import CHECKOUT, Example, examples, tasks_of

PREFIX = "virtshape.instancetypes."
EXAMPLES = list(examples())
"""As they come; see documented.py."""
HERE = Path(__file__).parent
# Options whose entries are as the options of the module itself.
MANY = ("virtual_machines", "instancetypes", "preferences", "boot_sources")

NOT_RUN = {
    # (page, name of the task or play): why. Everything else runs.
    (
        "plugins/modules/boot_source.py",
        "A boot source that keeps itself current",
    ): "asks a registry, as the next one does",
    ("plugins/modules/boot_source.py", "An image of our own, once"): "asks a registry; tested with one on loopback",
    (
        "plugins/modules/boot_source.py",
        "A file from here",
    ): "needs a file; tested with one on the local cluster",
    (
        "docs/virtual_machines.md",
        "A VM that needs nothing but an image",
    ): "asks a registry; tested with one on loopback",
    ("plugins/modules/estate_info.py", "Read a vCenter"): "needs a vCenter; tested with govmomi's simulator",
    ("docs/clusters.md", "Deploy the catalog of the company"): "takes its clusters from an inventory",
    ("docs/from_kubevirt_core.md", "With kubevirt.core"): "is a task of another collection; tested to declare the same",
    ("docs/inventory.md", "The VMs of the shop"): "takes its VMs from an inventory; tested with the playbooks' limits",
    ("docs/guests.md", "Start a cluster with guests"): "starts a cluster; tested with guests of the local cluster",
    ("docs/local_cluster.md", "Start two clusters"): "starts clusters; tested with the role",
    ("docs/local_cluster.md", "Use the second"): "needs the cluster of the example before",
    ("docs/local_cluster.md", "Let a tenth of all writes fail, and every watch end after 100 events"): (
        "starts a cluster with faults; tested with the role"
    ),
    ("docs/virtual_machines.md", "A larger size, immediately"): (
        "restarts a VM whose disk only CDI can fill; with a container disk it is an example of the module"
    ),
    ("docs/revisions.md", "Back to revisions by name"): "a revision has another name on each cluster",
    ("plugins/modules/controller_revision.py", "Back to revisions that are known by name"): (
        "a revision has another name on each cluster"
    ),
    ("roles/boot_sources/README.md", "Play"): "asks registries, and uploads an image of Windows",
    ("roles/local_cluster/README.md", "Try something"): "starts a cluster, and leaves the VM's options out",
    ("roles/revision_refresh/README.md", "The shop answers"): "asks a web server of a guest",
    ("plugins/modules/catalog.py", "Upgrade, and remove what is gone and no VM uses"): (
        "fetches a release from the network; tested with a server of the test"
    ),
}

# Pages that a test of their own does step by step.
ELSEWHERE = {"docs/getting_started.md", "docs/recipes.md"}

# Modules whose examples need no VMs that are there.
NEEDS_NO_VMS = {
    PREFIX + module
    for module in (
        "boot_source",
        "boot_source_info",
        "instancetype",
        "catalog",
        "revision_rollout",
        "preference",
        "virtual_machine_template",
        "virtual_machine_template_info",
    )
}


# The file of an example.
OPENSHIFT = {
    "apiVersion": "template.openshift.io/v1",
    "kind": "Template",
    "metadata": {"name": "centos7"},
    "objects": [
        {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": "${NAME}"},
            "spec": {"template": {"spec": {"domain": {"devices": {}}}}},
        }
    ],
    "parameters": [{"name": "NAME", "required": True}],
}

PLAIN = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web"},
    "spec": {"template": {"spec": {"domain": {"cpu": {"cores": 2}, "memory": {"guest": "3Gi"}, "devices": {}}}}},
}


def argument_spec(module: str) -> dict[str, Any]:
    entry = importlib.import_module(f"ansible_collections.{PREFIX}plugins.modules.{module}")
    return {**entry.MODULE.argument_spec, **entry.MODULE.unchecked}


def mistakes(options: Any, spec: dict[str, Any], where: str) -> Iterator[str]:
    """Options that the cluster has not, and values that are none of the choices; templates are left alone."""
    names = {alias: name for name, option in spec.items() for alias in (name, *option.get("aliases", ()))}
    for key, value in (options or {}).items():
        if key not in names:
            yield f"{where}: no option {key}"
            continue
        option = spec[names[key]]
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict) and option.get("options"):
                yield from mistakes(entry, option["options"], f"{where}.{key}")
            elif isinstance(entry, dict) and key in MANY and option.get("elements") == "dict":
                yield from mistakes(entry, spec, f"{where}.{key}")
            elif option.get("choices") and "{{" not in str(entry) and entry not in option["choices"]:
                yield f"{where}.{key}: {entry!r} is none of {option['choices']}"


def every_task(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for task in tasks:
        inner = [entry for part in ("block", "rescue", "always") for entry in task.get(part, ())]
        yield from every_task(inner) if inner else [task]


def test_examples_are_found() -> None:
    kinds = {example.kind for example in EXAMPLES}
    assert kinds == {"plays", "tasks", "inventory", "data"}
    documented = {example.page for example in EXAMPLES}
    assert {f"plugins/modules/{path.name}" for path in (CHECKOUT / "plugins" / "modules").glob("*.py")} <= documented


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.place)
def test_the_options_of_an_example_exist(example: Example) -> None:
    if example.kind == "inventory":
        documentation = _documentation("inventory", example.content["plugin"])
        spec = {name: {**option, "options": None} for name, option in documentation["options"].items()}
        assert list(mistakes(example.content, spec, example.place)) == []
        return
    result = []
    for task in every_task(tasks_of(example)):
        for module in [key.removeprefix(PREFIX) for key in task if key.startswith(PREFIX)]:
            spec = argument_spec(module)
            result += mistakes(task[PREFIX + module], spec, f"{example.place}: {task.get('name')}")
    assert result == []


def _documentation(kind: str, name: str) -> dict[str, Any]:
    done = _run(["ansible-doc", "--type", kind, "--json", name], {})
    result: dict[str, Any] = json.loads(done.stdout)[name]["doc"]
    return result


def test_exceptions_name_existing_examples() -> None:
    named = {(example.page, str(task.get("name"))) for example in EXAMPLES for task in tasks_of(example)}
    assert set(NOT_RUN) <= named


def test_every_recipe_is_run() -> None:
    titles = re.findall(r"^## (.*)$", (CHECKOUT / "docs" / "recipes.md").read_text(encoding="utf-8"), re.MULTILINE)
    source = (HERE / "test_recipes.py").read_text(encoding="utf-8")
    assert set(re.findall(r'place\.play\("(.*?)"\)', source)) == set(titles)


@pytest.fixture(scope="module")
def own_cluster(start_cluster: Callable[..., dict[str, Any]]) -> str:
    """The examples name namespaces that other tests might have, so they get a cluster for themselves."""
    # With the DataSource that the getting-started page takes from the role.
    return str(start_cluster("--name", "examples", "--namespace", "shop")["kubeconfig"])


@pytest.mark.own_cluster
def test_the_examples_run(own_cluster: str, tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_ed25519.pub").write_text("ssh-ed25519 AAAA example")
    (tmp_path / "template.yml").write_text(yaml.safe_dump(OPENSHIFT))
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "web.yml").write_text(yaml.safe_dump(PLAIN))
    (tmp_path / "catalogs").mkdir()
    (tmp_path / "catalogs" / "acme.yml").write_text(_catalog())
    verdict = {
        "name": "Every example has run",
        "ansible.builtin.assert": {"that": "failures == []", "fail_msg": "{{ failures | to_json }}"},
        "vars": {
            "failures": "{{ groups.all | map('extract', hostvars, 'example_failures') | select('defined') | list }}"
        },
    }
    plays = [*_plays(), _play("Verdict", [verdict])]
    # A host for each page, so that none sees what another has registered.
    settings = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    inventory = {"all": {"hosts": dict.fromkeys(str(play["hosts"]) for play in plays), "vars": settings}}
    (tmp_path / "inventory.yml").write_text(yaml.safe_dump(inventory))
    (tmp_path / "playbook.yml").write_text(yaml.safe_dump(plays, sort_keys=False, width=10000))
    environment = {"HOME": str(tmp_path), "K8S_AUTH_KUBECONFIG": own_cluster}
    done = _run(
        ["ansible-playbook", "-i", "inventory.yml", "playbook.yml", "-e", "vaulted_password=secret"],
        environment,
        tmp_path,
    )
    assert done.returncode == 0, done.stdout.rpartition("PLAY [Verdict]")[2] + done.stderr


def _catalog() -> str:
    """The catalog that the README of the role shows, which is the one that other examples read from a file."""
    for example in EXAMPLES:
        if example.kind == "data" and isinstance(example.content.get("series"), (dict, list)):
            return yaml.safe_dump(example.content)
    raise AssertionError("there is no example of a catalog")


def _plays() -> Iterator[dict[str, Any]]:
    """A play for each page: the VMs that its examples take for granted, then each of them, also after failures."""
    yield _play("What all pages take for granted", [_included("prepare_once.yml")])
    changed = True
    for page in dict.fromkeys(example.page for example in EXAMPLES if example.page not in ELSEWHERE):
        steps, used = [], set()
        for example in EXAMPLES:
            tasks = [task for task in tasks_of(example) if (page, str(task.get("name"))) not in NOT_RUN]
            if example.page != page or not tasks:
                continue
            used |= {str(key) for task in every_task(tasks) for key in task} - NEEDS_NO_VMS
            failed = {"example_failures": _merged(example.place)}
            rescue = [{"name": "Remember it", "ansible.builtin.set_fact": failed}]
            steps.append({"name": example.place, "block": tasks, "rescue": rescue})
        ours = {key for key in used if key.startswith(PREFIX) or key == "ansible.builtin.include_role"}
        if ours and changed:
            steps.insert(0, _included("prepare_vms.yml"))
            changed = False
        changed = changed or not all(key.endswith("_info") for key in ours)
        if steps:
            yield _play(page, steps)


def _included(file: str) -> dict[str, Any]:
    return {"name": "Prepare", "ansible.builtin.include_tasks": str(HERE / file)}


def _play(name: str, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    host = re.sub(r"\W+", "-", name.lower())
    return {"name": name, "hosts": host, "gather_facts": False, "tasks": tasks}


def _merged(place: str) -> str:
    result = "ansible_failed_result.msg | default(ansible_failed_result | string)"
    return f"{{{{ example_failures | default({{}}) | combine({{'{place} ' ~ ansible_failed_task.name: {result}}}) }}}}"


def _run(
    command: list[str], environment: dict[str, str], folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name(command[0])
    return subprocess.run(
        [str(program), *command[1:]],
        env=surroundings(**environment),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
