"""virtual_machine_info: which VMs are returned, and why the resources of one are unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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


def message(run: Run, cluster: Store, **options: Any) -> list[str]:
    return [
        item["name"] for item in run("virtual_machine_info", cluster, namespace="shop", **options)["virtual_machines"]
    ]


def test_filters_can_be_combined(run: Run) -> None:
    running = vm("b", None, "RestartRequired")
    running["spec"]["runStrategy"], running["status"]["created"] = "Always", True
    started: Manifest = {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}
    instance = {
        "metadata": {"name": "b", "namespace": "shop", "uid": "b"},
        "spec": started,
        "status": {"phase": "Running"},
    }
    cluster = store(vm("a", sized("small"), "RestartRequired"), running, vm("c"), instances=[instance])
    assert message(run, cluster) == ["a", "b", "c"]
    assert message(run, cluster, instancetype="small") == ["a"]
    assert message(run, cluster, instancetype="small", preference="linux") == []
    assert message(run, cluster, restart_required=True) == ["b"]
    assert message(run, cluster, restart_required=False, drifted=False) == ["a", "c"]


def test_no_further_requests_without_matching_vms(run: Run) -> None:
    cluster = store(vm("a"))
    assert message(run, cluster, instancetype="small") == []
    assert not any(path.endswith("virtualmachineinstances") for _method, path in cluster.asked)
