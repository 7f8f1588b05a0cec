"""Every module tells the same, to the letter, whether its action executes it or Ansible packs and sends it."""

import json
import sys
from pathlib import Path
from typing import Any

from ansible_environment import ansible

from scripted_server import Store, session_with, status

PLUGINS = Path(__file__).parents[3] / "plugins"
SECRET = "a-password-of-nobody"
TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
KUBEVIRT = "/apis/kubevirt.io/v1"
SMALL = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineInstancetype",
    "metadata": {"name": "small", "namespace": "shop", "uid": "small", "generation": 1},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
}
VM = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "shop", "uid": "web", "generation": 1, "resourceVersion": "1"},
    "spec": {
        "runStrategy": "Halted",
        "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
        "template": {"spec": {"domain": {"devices": {}}}},
    },
    "status": {"printableStatus": "Stopped"},
}
EXPLICIT = {
    "name": "explicit",
    "memory": "2Gi",
    "run_strategy": "Halted",
    "labels": {"day": "{{ day }}"},
    "cloud_init": {"user_data": f"#cloud-config\npassword: {SECRET}"},
}
KUBECONFIG = {
    "current-context": "a",
    "clusters": [{"name": "a", "cluster": {"server": f"https://127.0.0.1:1/{SECRET}"}}],
    "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
    "users": [{"name": "a", "user": {"token": SECRET}}],
}
ALL = {"namespaces": ["shop"]}

# Each module gets one of these tasks, at least.
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("boot_source", {"name": "fedora", "namespace": "shop", "registry": "registry.example.com/fedora:41"}),
    ("boot_source_info", ALL),
    ("capacity_info", {"manifests": [VM]}),
    ("catalog", {"source": "builtin", "select": ["u1.small"]}),
    ("catalog_info", {"used_by": True}),
    ("catalog_info", {"name": "{{ item }}", "namespace": "shop"}),
    ("controller_revision", {"names": ["web"], "namespace": "shop", "state": "refreshed"}),
    ("estate_info", {"source": "cluster", "namespace": "shop"}),
    ("instancetype", {"name": "small", "namespace": "shop", "cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}),
    ("instancetype", {"name": "large", "namespace": "shop", "cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}),
    ("instancetype", {"name": "small", "namespace": "shop", "cpu": "many"}),
    ("revision_rollout", {"settings": {"namespaces": ["shop"]}, "now": "2026-05-01 22:00:00"}),
    ("preference", {"name": "linux", "namespace": "shop", "devices": {"preferred_disk_bus": "virtio"}}),
    ("upgrade_info", {"kubevirt": "1.9.0"}),
    ("virtual_machine", {"namespace": "shop", "virtual_machines": [EXPLICIT, {**EXPLICIT, "memory": "1"}]}),
    ("virtual_machine", {"namespace": "shop", **EXPLICIT, "instancetype": {"name": "none"}, "preflight": "warn"}),
    ("virtual_machine_adopt", {"names": ["web"], "namespace": "shop"}),
    ("virtual_machine_info", {"namespace": "shop", "include": ["refresh", "expansion"]}),
    ("virtual_machine_info", {"names": ["web"], "namespace": "shop", "export": {"run_strategy": "Halted"}}),
    ("virtual_machine_info", {"nonsense": 1}),
    ("virtual_machine_info", {"host": SECRET, "api_key": SECRET}),
    ("virtual_machine_info", {"kubeconfig": KUBECONFIG, "host": None}),
    # An alias that Ansible warns of beside its name.
    ("virtual_machine_info", {"namespace": "shop", "validate_certs": False, "verify_ssl": False}),
    ("virtual_machine_power", {"names": ["web"], "namespace": "shop", "state": "started"}),
    ("virtual_machine_snapshot", {"names": ["web"], "namespace": "shop", "snapshot": "{name}-before", "wait": False}),
    ("virtual_machine_template", {"name": "linux", "namespace": "shop", "virtual_machine": {"spec": VM["spec"]}}),
    ("virtual_machine_template_info", {"namespace": "shop"}),
]


def task(number: int, module: str, options: dict[str, Any]) -> dict[str, Any]:
    """A task, in check mode every second one."""
    loop = {"loop": ["small", "large"]} if "{{ item }}" in str(options) else {}
    call = {f"virtshape.instancetypes.{module}": options}
    keywords = {**loop, "check_mode": bool(number % 2), "ignore_errors": True}
    return {"name": f"{number} {module}", **call, **keywords, "register": f"task_{number}"}


def play(folder: Path, host: str, direct: bool) -> tuple[list[dict[str, Any]], str]:
    """The results of ASKED in order, and the screen."""
    answers = folder / "answers.json"
    registered = ", ".join(f"task_{number}" for number in range(len(ASKED)))
    save = {"content": f"{{{{ [{registered}] | to_json }}}}", "dest": str(answers), "mode": "0600"}
    where = {"host": host, "api_key": SECRET, "retry_timeout": 0, "concurrency": 1}
    book = folder / "play.json"
    item = {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {"group/virtshape.instancetypes.all": where},
        "vars": {"ansible_python_interpreter": sys.executable, "day": "monday", "ansible_remote_tmp": str(folder)},
    }
    tasks = [task(number, *requested) for number, requested in enumerate(ASKED)]
    book.write_text(json.dumps([{**item, "tasks": [*tasks, {"ansible.builtin.copy": save, "no_log": True}]}]))
    given = ("--diff", "-e", json.dumps({"virtshape_direct_execution": direct}))
    code, printed = ansible(folder, "ansible-playbook", str(book), *given, bare=True)
    assert code == 0, printed
    assert SECRET not in printed
    # Since ansible-core 2.22, a module's result is hidden where it is shown and no sooner.
    result: list[dict[str, Any]] = json.loads(answers.read_text())
    answers.unlink()
    return result, printed


def test_every_module_is_run() -> None:
    assert {module for module, _options in ASKED} == {path.stem for path in (PLUGINS / "modules").glob("[!_]*.py")}


def test_results_and_screens_are_the_same(tmp_path: Path) -> None:
    paths = {
        f"{KUBEVIRT}/namespaces/shop/virtualmachines": [VM],
        f"{KUBEVIRT}/namespaces/shop/virtualmachineinstances": [],
        f"{TYPES}/namespaces/shop/virtualmachineinstancetypes": [SMALL],
        f"{TYPES}/namespaces/shop/virtualmachinepreferences": [],
        "/apis/apps/v1/namespaces/shop/controllerrevisions": [],
    }
    refused = status(422, f"the quota of {SECRET} is used up", "Invalid")
    with session_with(Store(paths, {("PATCH", "/linux"): refused})) as session:
        (direct, shown), (sent, seen) = (play(tmp_path, session.host, way) for way in (True, False))
    for (module, options), item, other in zip(ASKED, direct, sent):
        assert item == other, (module, options)
    assert shown == seen
    result = json.dumps(direct)
    assert all(word in result for word in ('"warnings"', '"diff"', '"failed": true', '"failed": false', "****"))
