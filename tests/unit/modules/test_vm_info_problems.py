"""virtual_machine_info: which VMs are told of, and why the resources of one cannot be told."""

from __future__ import annotations

from collections.abc import Callable
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
    status: Manifest = {"conditions": [{"type": one, "status": "True"} for one in conditions]}
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


def store(*vms: Manifest) -> Store:
    return Store(
        {
            f"{KUBEVIRT}/virtualmachines": list(vms),
            f"{KUBEVIRT}/virtualmachineinstances": [],
            f"{TYPES}/namespaces/shop/virtualmachineinstancetypes": [SMALL],
            "/apis/apps/v1/namespaces/shop/controllerrevisions": [],
        }
    )


def told(run: Run, cluster: Store, **options: Any) -> list[str]:
    return [
        one["name"] for one in run("virtual_machine_info", cluster, namespace="shop", **options)["virtual_machines"]
    ]


def test_filters_alone_and_together(run: Run) -> None:
    cluster = store(vm("a", sized("small")), vm("b", sized("other"), "RestartRequired"), vm("c"))
    assert told(run, cluster) == ["a", "b", "c"]
    assert told(run, cluster, instancetype="small") == ["a"]
    assert told(run, cluster, instancetype="small", preference="linux") == []
    assert told(run, cluster, restart_required=True) == ["b"]
    assert told(run, cluster, restart_required=False, drifted=False) == ["a", "c"]


def test_where_no_vm_is_told_of_nothing_more_is_asked(run: Run) -> None:
    cluster = store(vm("a"))
    assert told(run, cluster, instancetype="small") == []
    assert not any(path.endswith("virtualmachineinstances") for _method, path in cluster.asked)


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
def test_why_its_resources_cannot_be_told(run: Run, machine: Manifest, problem: str) -> None:
    [found] = run("virtual_machine_info", store(machine), namespace="shop")["virtual_machines"]
    assert (found["problem"], "resources" in found) == (problem, False)


def test_one_without_an_instancetype_has_what_it_says_itself(run: Run) -> None:
    [found] = run("virtual_machine_info", store(vm("a")), namespace="shop")["virtual_machines"]
    guest = found["resources"]["guest"]
    assert (guest["vcpus"], guest["memory"], "problem" in found) == (1, "2Gi", False)
