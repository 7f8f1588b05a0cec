"""The filter placement: from manifests of a cluster to an answer for each VM."""

from typing import Any

import capacity_cluster
import pytest
from ansible.errors import AnsibleFilterError
from capacity_cluster import Manifest
from loaded_filters import FILTERS

placement = FILTERS["placement"]
LARGE = {
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "large"},
    "spec": {"cpu": {"guest": 4}, "memory": {"guest": "8Gi"}},
}


def node(name: str, memory: str = "20Gi") -> Manifest:
    return capacity_cluster.node(name, memory=memory)


def vm(name: str = "web", **domain: Any) -> Manifest:
    template = {"spec": {"domain": {"devices": {}, **domain}}}
    spec = {"instancetype": {"name": "large"}, "template": template}
    return {"kind": "VirtualMachine", "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def launcher(name: str, where: str, phase: str = "Running") -> Manifest:
    return {**capacity_cluster.launcher(name, where, cpu="400m", memory="9Gi"), "status": {"phase": phase}}


def test_instancetypes_count_the_room_that_vms_leave() -> None:
    large = {"name": "large", "fits": True, "node_count": 2, "cluster_node_count": 2, "additional_vms": 3}
    assert placement(vm(), nodes=[node("x"), node("y")], objects=[LARGE], instancetypes=LARGE)["instancetypes"] == [
        large
    ]


def test_running_and_drained_guests_migrate() -> None:
    nodes, pods = [node("x"), node("y")], [launcher("web", "x"), launcher("web", "y", "Succeeded")]
    (result,) = placement([vm()], nodes=nodes, pods=pods, objects=[LARGE])["virtual_machines"]
    assert (result["node"], result["migration"]["nodes"]) == ("x", ["y"])
    gone = placement([vm()], nodes=[node("y")], pods=pods, objects=[LARGE])["virtual_machines"][0]
    assert gone["node"] == "y" and "migration" not in gone
    result = placement([vm("new"), vm("next")], nodes=nodes, pods=pods[:1], objects=[LARGE], drain=["x"])
    assert [(item["name"], item["target"]) for item in result["drained"]] == [("web", "y")]
    assert [item.get("node") for item in result["virtual_machines"]] == ["y", None]


def test_cluster_configuration_counts() -> None:
    developer = {"nodeSelectors": {"disk": "ssd"}}
    kubevirt = {"spec": {"configuration": {"developerConfiguration": developer}}}
    result = placement([vm()], nodes=[node("x")], objects=[LARGE], kubevirt=kubevirt)["virtual_machines"][0]
    assert result["problem"] == "1 of 1 nodes lacks the label disk=ssd"
    quota = {"metadata": {"namespace": "shop"}, "spec": {"hard": {"limits.cpu": "1"}}}
    space = {"metadata": {"name": "shop", "labels": {}}}
    more = placement([vm()], nodes=[node("x")], objects=[LARGE], quotas=[quota], namespaces=[space], networks=[])
    assert more["virtual_machines"][0]["fits"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"nodes": "x"}, "nodes: expected a list of manifests"),
        ({"nodes": [{"status": {"allocatable": {"cpu": "much"}}}]}, "nodes: .* is not a Node: quantities must match"),
        ({"pods": [{"spec": {"containers": [5]}}]}, "pods: .* is not a Pod: a field has"),
        ({"drain": "x"}, "drain: expected a list of names"),
        ({"kubevirt": 5}, "kubevirt: expected a manifest, found 5"),
        ({"kubevirt_version": "x"}, "kubevirt_version: 'x' is not a version"),
        ({"instancetypes": [{"metadata": {"name": "x"}, "spec": {"cpu": 5}}]}, "placement: cpu: "),
        ({"kubevirt": {"spec": {"configuration": {"supportContainerResources": [5]}}}}, "kubevirt: its configuration"),
        ({"namespaces": [{"metadata": {"name": "shop", "labels": 5}}]}, "metadata.labels: expected a mapping, found 5"),
        (
            {"networks": [{"metadata": {"annotations": 5}}]},
            r"networks\[0\]: metadata.annotations: expected a mapping, found 5",
        ),
        ({"quotas": [{"spec": {"hard": 5}}]}, "quotas: .*has no spec.hard"),
    ],
)
def test_invalid_input_is_an_error(options: Manifest, problem: str) -> None:
    with pytest.raises(AnsibleFilterError, match=problem):
        placement([vm()], **{"nodes": [node("x")], "objects": [LARGE], **options})


def test_a_vm_without_a_pod_is_an_answer() -> None:
    inferred, permitted = vm("b"), vm("c", devices={"gpus": [{"name": "g", "deviceName": "x/gpu"}]})
    inferred["spec"]["instancetype"] = {"inferFromVolume": "root"}
    kubevirt = {"spec": {"configuration": {"permittedHostDevices": {}}}}
    vms = [vm("a"), inferred, permitted, vm("d", cpu={"cores": 2})]
    result = placement(vms, nodes=[node("x", memory="99Gi")], objects=[LARGE], kubevirt=kubevirt)["virtual_machines"]
    assert [item["fits"] for item in result] == [True, False, False, False]
    assert "inferred from the volume root" in result[1]["problem"]
    assert "GPU x/gpu is not permitted" in result[2]["problem"]
    assert "conflicts" in result[3]["problem"]
    running = placement([vm("web")], nodes=[node("x")], pods=[launcher("web", "x")])["virtual_machines"][0]
    assert running["fits"] and running["migration"]["problem"] == (
        'virtualmachineclusterinstancetypes.instancetype.kubevirt.io "large" not found'
    )


def test_restart_frees_the_room_of_the_pod() -> None:
    running = {"nodes": node("x", memory="10Gi"), "objects": [LARGE], "pods": [launcher("web", "x")]}
    (item,) = placement(vm(), running="restart", **running)["virtual_machines"]
    assert (item["fits"], item["node"]) == (True, "x")
    with pytest.raises(AnsibleFilterError, match="placement: running: 'keep' is not a valid value; choose migrate or"):
        placement(vm(), running="keep", **running)
