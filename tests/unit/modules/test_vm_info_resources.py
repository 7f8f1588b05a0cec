"""Resources of VMs in results of virtual_machine_info."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scripted_server import Store

Run = Callable[..., dict[str, Any]]

Manifest = dict[str, Any]

TYPES = "/apis/instancetype.kubevirt.io/v1beta1"

KUBEVIRT = "/apis/kubevirt.io/v1/namespaces/shop"

KIND = "VirtualMachineInstancetype"

SMALL = {
    "metadata": {"name": "small", "namespace": "shop", "uid": "s", "generation": 1},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}},
}


def vm(name: str, matcher: dict[str, str] | None = None, *conditions: str, revision: str = "") -> Manifest:
    status: Manifest = {"conditions": [{"type": item, "status": "True"} for item in conditions]}
    spec: Manifest = {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}}
    if matcher:
        spec["instancetype"] = matcher
        captured = {"controllerRevisionRef": {"name": revision}} if revision else {}
        status["instancetypeRef"] = {**matcher, **captured}
    else:
        spec["template"]["spec"]["domain"]["memory"] = {"guest": "2Gi"}
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 1}
    return {"kind": "VirtualMachine", "metadata": metadata, "spec": spec, "status": status}


def sized(name: str, kind: str = KIND) -> dict[str, str]:
    return {"name": name, "kind": kind}


def store(*vms: Manifest, instances: Sequence[Manifest] = ()) -> Store:
    return Store(
        {
            f"{KUBEVIRT}/virtualmachines": list(vms),
            f"{KUBEVIRT}/virtualmachineinstances": list(instances),
            f"{TYPES}/namespaces/shop/virtualmachineinstancetypes": [SMALL],
            "/apis/apps/v1/namespaces/shop/controllerrevisions": [],
        }
    )


@pytest.mark.parametrize(
    ("machine", "problem"),
    [
        (
            vm("a", sized("none")),
            'virtualmachineinstancetypes.instancetype.kubevirt.io "none" not found',
        ),
        (vm("a", sized("small", "Flavor")), "instancetype.kind: KubeVirt has no kind Flavor"),
        (vm("a", sized("small"), revision="a-small-1"), 'controllerrevisions.apps "a-small-1" not found'),
    ],
)
def test_unresolvable_vm_has_a_problem_without_resources(run: Run, machine: Manifest, problem: str) -> None:
    [result] = run("virtual_machine_info", store(machine), namespace="shop")["virtual_machines"]
    assert (result["problem"], "resources" in result) == (problem, False)


def test_vm_without_instancetype_has_its_own_resources(run: Run) -> None:
    [result] = run("virtual_machine_info", store(vm("a")), namespace="shop")["virtual_machines"]
    guest = result["resources"]["guest"]
    assert (guest["vcpus"], guest["memory"], "problem" in result) == (1, "2Gi", False)
