"""The contestants: each is the playbook, or the command, that its users would write for the same VMs."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Task = dict[str, Any]

LIMIT = 60.0  # seconds
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
    after LIMIT if there are more."""

    name: str
    command: Callable[[Path, str, str, int, Path], list[str]]
    slow_from: int | None = None


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


def _floor(kubeconfig: Path, namespace: str, phase: str, count: int, _folder: Path) -> list[str]:
    script = Path(__file__).with_name("floor.py")
    return [sys.executable, str(script), str(kubeconfig), namespace, phase, str(count)]


OURS = Contestant("virtual_machine", _playbook(_ours))
KUBEVIRT_VM = Contestant("kubevirt_vm, loop", _playbook(_kubevirt_vm), slow_from=200)
K8S_LOOP = Contestant("k8s, loop", _playbook(_k8s_loop), slow_from=200)
K8S_LIST = Contestant("k8s, one list", _playbook(_k8s_list), slow_from=1_000)
FLOOR = Contestant("bare requests", _floor)
NOTHING = Contestant("ping", _playbook(_nothing))
ALL = (OURS, KUBEVIRT_VM, K8S_LOOP, K8S_LIST, FLOOR, NOTHING)
