"""The contestants: each is the playbook, or the command, that its users would write for the same VMs."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Task = dict[str, Any]

LIMIT = 90.0  # seconds
PHASES = ("create", "again", "label", "delete")
"""What is timed, in this order: new VMs, the same once more, another value of one label on all, all of them gone.
This collection is timed at `refresh`, too: another generation of the instancetype for all, before they go."""
MATCHERS = {
    "instancetype": {"kind": "VirtualMachineInstancetype", "name": "size"},
    "preference": {"kind": "VirtualMachinePreference", "name": "taste"},
}
DOMAIN = {"devices": {"disks": [{"name": "root", "disk": {}}], "interfaces": [{"name": "pod", "masquerade": {}}]}}
SPEC = {
    "domain": DOMAIN,
    "networks": [{"name": "pod", "pod": {}}],
    "volumes": [{"name": "root", "containerDisk": {"image": "quay.io/containerdisks/fedora:latest"}}],
}


class Contestant(NamedTuple):
    """name: in tables. command: kubeconfig, namespace, phase, number of VMs, folder for its files → the command line.
    slow_from: the number of VMs from which it takes minutes or hours: it takes part in one round only, and is stopped
    after LIMIT. missing: what this machine lacks for it, on one line; "" for nothing."""

    name: str
    command: Callable[[Path, str, str, int, Path], list[str]]
    slow_from: int | None = None
    missing: Callable[[], str] = lambda: ""


def names(count: int) -> list[str]:
    return [f"vm-{number:05}" for number in range(count)]


def label(phase: str) -> dict[str, str]:
    return {"tier": "one" if phase in ("create", "again") else "two"}


def manifest(name: str, namespace: str, phase: str) -> dict[str, Any]:
    """The VM as the API has it."""
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": namespace, "labels": label(phase)},
        "spec": {"runStrategy": "Halted", **MATCHERS, "template": {"spec": SPEC}},
    }


def _state(phase: str) -> str:
    return "absent" if phase == "delete" else "present"


def _ours(namespace: str, phase: str, count: int) -> Task:
    if phase == "refresh":
        return {"virtshape.instancetypes.controller_revision": {"namespace": namespace, "state": "refreshed"}}
    return {
        "virtshape.instancetypes.virtual_machine": {
            "namespace": namespace,
            "state": _state(phase),
            "labels": label(phase),
            "run_strategy": "Halted",
            **MATCHERS,
            "template": {"spec": SPEC},
            "virtual_machines": [{"name": name} for name in names(count)],
            "wait": False,
        }
    }


def _kubevirt_vm(namespace: str, phase: str, count: int) -> Task:
    options: dict[str, Any] = {"name": "{{ item }}", "namespace": namespace, "state": _state(phase), "wait": False}
    if phase != "delete":
        options |= {"labels": label(phase), "run_strategy": "Halted", **MATCHERS, "spec": SPEC}
    return {"kubevirt.core.kubevirt_vm": options, "loop": names(count)}


def _k8s_loop(namespace: str, phase: str, count: int) -> Task:
    definition = manifest("{{ item }}", namespace, phase)
    return {"kubernetes.core.k8s": {"state": _state(phase), "definition": definition}, "loop": names(count)}


def _k8s_list(namespace: str, phase: str, count: int) -> Task:
    definition = [manifest(name, namespace, phase) for name in names(count)]
    return {"kubernetes.core.k8s": {"state": _state(phase), "definition": definition}}


def _nothing(_namespace: str, _phase: str, _count: int) -> Task:
    return {"ansible.builtin.ping": {}}


def _playbook(task: Callable[[str, str, int], Task]) -> Callable[[Path, str, str, int, Path], list[str]]:
    def command(kubeconfig: Path, namespace: str, phase: str, count: int, folder: Path) -> list[str]:
        # JSON is YAML, and quick to read: what is compared is the modules, not how long a playbook is parsed.
        file = folder / f"{phase}.yml"
        play = {
            "hosts": "localhost",
            "gather_facts": False,
            "environment": {"K8S_AUTH_KUBECONFIG": str(kubeconfig)},
            "tasks": [task(namespace, phase, count)],
        }
        file.write_text(json.dumps([play]))
        return [str(Path(sys.executable).with_name("ansible-playbook")), str(file)]

    return command


def _kubectl(kubeconfig: Path, namespace: str, phase: str, count: int, folder: Path) -> list[str]:
    file = folder / "kubectl.json"
    items = [manifest(name, namespace, phase) for name in names(count)]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    verb = ["delete", "--wait=false"] if phase == "delete" else ["apply"]
    return ["kubectl", "--kubeconfig", str(kubeconfig), *verb, "-f", str(file)]


def _without_kubectl() -> str:
    return "" if shutil.which("kubectl") else "kubectl is not installed"


def _terraform(kubeconfig: Path, namespace: str, phase: str, count: int, folder: Path) -> list[str]:
    """Its state is kept from one phase to the next. `terraform init` is not measured."""
    place = folder / f"terraform-{namespace}"
    place.mkdir(exist_ok=True)
    each = {
        "for_each": f"${{toset({json.dumps(names(count))})}}",
        "manifest": manifest("${each.key}", namespace, phase),
    }
    content = {
        "terraform": {"required_providers": {"kubernetes": {"source": "hashicorp/kubernetes"}}},
        "provider": {"kubernetes": {"config_path": str(kubeconfig)}},
        "resource": {"kubernetes_manifest": {"vm": each}},
    }
    (place / "main.tf.json").write_text(json.dumps(content))
    if phase == PHASES[0]:
        subprocess.run(["terraform", f"-chdir={place}", "init", "-no-color"], check=True, stdout=subprocess.DEVNULL)
    verb = "destroy" if phase == "delete" else "apply"
    return ["terraform", f"-chdir={place}", verb, "-auto-approve", "-no-color"]


def _without_terraform() -> str:
    """The provider comes from where Terraform's configuration says: the registry, or a mirror (TF_CLI_CONFIG_FILE)."""
    if not shutil.which("terraform"):
        return "terraform is not installed"
    with tempfile.TemporaryDirectory() as folder:
        try:
            _terraform(Path(folder), "try", PHASES[0], 1, Path(folder))
        except subprocess.CalledProcessError:
            return "terraform init finds no provider hashicorp/kubernetes"
    return ""


def _floor(kubeconfig: Path, namespace: str, phase: str, count: int, _folder: Path) -> list[str]:
    script = Path(__file__).with_name("floor.py")
    return [sys.executable, str(script), str(kubeconfig), namespace, phase, str(count)]


OURS = Contestant("virtual_machine", _playbook(_ours))
KUBEVIRT_VM = Contestant("kubevirt_vm, loop", _playbook(_kubevirt_vm), slow_from=20)
K8S_LOOP = Contestant("k8s, loop", _playbook(_k8s_loop), slow_from=20)
K8S_LIST = Contestant("k8s, one list", _playbook(_k8s_list), slow_from=1_000)
KUBECTL = Contestant("kubectl", _kubectl, slow_from=1_000, missing=_without_kubectl)
TERRAFORM = Contestant("terraform", _terraform, slow_from=20, missing=_without_terraform)
FLOOR = Contestant("bare requests", _floor)
NOTHING = Contestant("ping", _playbook(_nothing))
ALL = (OURS, KUBEVIRT_VM, K8S_LOOP, K8S_LIST, KUBECTL, TERRAFORM, FLOOR, NOTHING)
