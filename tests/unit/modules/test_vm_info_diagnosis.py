"""The diagnosis in results of virtual_machine_info: with the requests of a list, however many VMs there are."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from listed_vms import store, vm

from plugins.module_utils._diagnosis.case import KINDS_READ
from scripted_server import Store

Run = Callable[..., dict[str, Any]]
Manifest = dict[str, Any]

CORE = "/api/v1/namespaces/shop"
LEASE = {
    "metadata": {"name": "virt-controller", "namespace": "kubevirt"},
    "spec": {"renewTime": "2026-01-01T00:00:00Z"},
}
KUBEVIRT = {
    "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
    "status": {"observedKubeVirtVersion": "v1.9.0"},
}
WAITING = {
    "metadata": {"name": "launcher", "namespace": "shop"},
    "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]},
}


def server(count: int, pods: list[Manifest], lease: list[Manifest]) -> Store:
    made = store(*(vm(f"vm-{index}") for index in range(count)))
    made.lists.update(
        {
            "/apis/kubevirt.io/v1/kubevirts": [KUBEVIRT],
            "/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstancemigrations": [],
            "/apis/coordination.k8s.io/v1/namespaces/kubevirt/leases": lease,
            "/apis/cdi.kubevirt.io/v1beta1/namespaces/shop/datavolumes": [],
            "/apis/storage.k8s.io/v1/storageclasses": [],
            "/api/v1/nodes": [],
            "/api/v1/pods": pods,
            **{f"{CORE}/{plural}": [] for plural in ("events", "persistentvolumeclaims")},
            f"{CORE}/pods": pods,
        }
    )
    return made


def test_300_vms_take_the_requests_of_one(run: Run) -> None:
    requests = []
    for count in (1, 300):
        made = server(count, [], [])
        result = run("virtual_machine_info", made, namespace="shop", include=["diagnosis"])
        assert [item["diagnosis"]["state"] for item in result["virtual_machines"]] == ["pending"] * count
        requests.append(Counter(made.asked))
    assert requests[0] == requests[1]
    assert max(requests[1].values()) == 1
    assert sum(requests[1].values()) <= len(KINDS_READ) + 4


def test_a_silent_controller_is_named_for_all(run: Run) -> None:
    result = run("virtual_machine_info", server(2, [], [LEASE]), namespace="shop", include=["diagnosis"])
    assert [item["diagnosis"]["link"] for item in result["virtual_machines"]] == ["controller"] * 2


def test_lost_revision_is_named_before_kubevirt_does(run: Run) -> None:
    made = server(2, [], [])
    first, second = made.lists["/apis/kubevirt.io/v1/namespaces/shop/virtualmachines"]
    first["spec"]["instancetype"] = {"name": "small", "kind": "VirtualMachineClusterInstancetype"}
    first["status"]["instancetypeRef"] = {"controllerRevisionRef": {"name": "gone"}}
    second["spec"]["instancetype"] = {**first["spec"]["instancetype"], "revisionName": "pinned"}
    result = run("virtual_machine_info", made, namespace="shop", include=["diagnosis"])
    found = [item["diagnosis"] for item in result["virtual_machines"]]
    assert [item["link"] for item in found] == ["revision"] * 2
    assert [(item["evidence"][0]["reason"], item["evidence"][0]["message"]) for item in found] == [
        ("status.instancetypeRef", "there is no ControllerRevision gone"),
        ("spec.instancetype", "there is no ControllerRevision pinned"),
    ]


@pytest.mark.parametrize(("pods", "asked"), [([], 0), ([WAITING], 1)])
def test_all_pods_are_read_for_one_that_waits(run: Run, pods: list[Manifest], asked: int) -> None:
    made = server(1, pods, [])
    run("virtual_machine_info", made, namespace="shop", include=["diagnosis"])
    assert sum("/api/v1/pods" in str(request) for request in made.asked) == asked


def test_no_vm_needs_no_further_request(run: Run) -> None:
    made = server(0, [], [])
    made.lists["/api/v1/namespaces"] = [{"metadata": {"name": "shop"}}]
    assert run("virtual_machine_info", made, namespace="shop", include=["diagnosis"])["virtual_machines"] == []
    assert not any("events" in str(path) for path in made.asked)
