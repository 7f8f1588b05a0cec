"""The check placement of capacity_info on a scripted cluster: what it reads, what it says, and what it does without."""

from functools import partial
from typing import Any

import capacity_cluster
from capacity_cluster import TYPES, Manifest, Run, check_result, launcher, vm

from scripted_server import Store, forbidden

store = partial(capacity_cluster.store, nodes="xy")


def placement_info(run: Run, cluster: Store, **options: Any) -> Manifest:
    return check_result(run, cluster, "placement", **options)


def test_vms_of_the_cluster_are_placed(run: Run) -> None:
    cluster = store(vm("a"), vm("b"), vm("c"), pods=[launcher("a", "x")])
    result = placement_info(run, cluster, namespace="shop", instancetypes=["small"])
    assert (result["changed"], result["fits"], result["warnings"]) == (False, True, [])
    first, second, third = result["virtual_machines"]
    assert (first["node"], first["migration"]["nodes"]) == ("x", ["x", "y"][1:])
    assert (second["node"], third["node"]) == ("y", "y")
    small = {"name": "small", "fits": True, "node_count": 2, "cluster_node_count": 2, "additional_vms": 1}
    assert result["instancetypes"] == [small]
    assert placement_info(run, cluster, manifests=[], instancetypes=["*"])["instancetypes"][0]["additional_vms"] == 3


def test_restart_places_all_running_vms_again(run: Run) -> None:
    cluster = store(vm("a"), vm("b"), vm("c"), pods=[launcher("a", "x"), launcher("b", "y")])
    result = placement_info(run, cluster, namespace="shop", running="restart")
    assert [item.get("node") for item in result["virtual_machines"]] == ["x", "y", "x"]
    assert not any("migration" in item for item in result["virtual_machines"])
    # The pods of the other VMs stay.
    (only,) = placement_info(run, cluster, namespace="shop", running="restart", names=["c"])["virtual_machines"]
    assert only["node"] in ("x", "y") and only["node_count"] == 2


def test_the_current_instancetype_instead_of_the_captured_one(run: Run) -> None:
    pinned = vm("a")
    pinned["spec"]["instancetype"]["revisionName"] = "gone"
    (item,) = placement_info(run, store(pinned), namespace="shop")["virtual_machines"]
    assert (item["evaluated"], item["fits"]) == (False, False)
    for refreshed, evaluated in (("preference", False), ("instancetype", True), ("both", True)):
        (item,) = placement_info(run, store(pinned), namespace="shop", refreshed=refreshed)["virtual_machines"]
        assert (item["evaluated"], item["fits"]) == (evaluated, evaluated), refreshed


def test_manifests_and_a_drained_node(run: Run) -> None:
    cluster = store(pods=[launcher("far", "x")])
    manifests = [vm("new"), {**vm("next"), "metadata": {"name": "next"}}]
    result = placement_info(run, cluster, namespace="shop", manifests=manifests, drain=["x"])
    assert [(item["name"], item["target"]) for item in result["drained"]] == [("far", "y")]
    assert [(item["namespace"], item["fits"]) for item in result["virtual_machines"]] == [
        ("shop", True),
        ("shop", False),
    ]
    assert result["fits"] is False
    assert "y lacks" in result["virtual_machines"][1]["problem"]


def test_volumes_that_one_node_reaches(run: Run) -> None:
    def disk(name: str) -> Manifest:
        volume = {"name": "root", "persistentVolumeClaim": {"claimName": name}}
        created = vm(name)
        created["spec"]["template"]["spec"]["volumes"] = [volume]
        created["spec"]["template"]["spec"]["domain"]["devices"] = {"disks": [{"name": "root", "disk": {}}]}
        return created

    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["y"]}]}
    affinity = {"required": {"nodeSelectorTerms": [term]}}
    cluster = store(disk("local"), disk("waits"))
    cluster.lists["/api/v1/persistentvolumeclaims"] = [
        {
            "metadata": {"name": "local", "namespace": "shop", "annotations": bound},
            "spec": {"volumeName": "pv"},
        },
        {"metadata": {"name": "waits", "namespace": "shop"}, "spec": {}},
    ]
    cluster.lists["/api/v1/persistentvolumes"] = [{"metadata": {"name": "pv"}, "spec": {"nodeAffinity": affinity}}]
    result = placement_info(run, cluster, namespace="shop")
    local, waits = result["virtual_machines"]
    assert (local["nodes"], result["warnings"]) == (["y"], [])
    assert waits["problem"] == "its claim waits is not bound"
    cluster.answers["GET", "/persistentvolumes"] = forbidden("persistentvolumes")
    result = placement_info(run, cluster, namespace="shop")
    assert [item["node_count"] for item in result["virtual_machines"]] == [2, 2]
    assert result["warnings"][0].startswith("persistentvolumes are not taken into account: ")


def test_unreadable_quotas_give_a_warning(run: Run) -> None:
    cluster = store(vm("a"))
    cluster.answers["GET", "/resourcequotas"] = forbidden("resourcequotas")
    result = placement_info(run, cluster, namespace="shop")
    assert result["fits"] and result["warnings"][0].startswith("resourcequotas are not taken into account: ")


def test_unreadable_instancetypes_fail_the_task(run: Run) -> None:
    cluster = store()
    cluster.answers["GET", TYPES] = forbidden("virtualmachineclusterinstancetypes")
    result = placement_info(run, cluster, manifests=[], instancetypes=["*"])
    assert result["msg"].startswith("instancetypes: ") and "virtualmachineclusterinstancetypes" in result["msg"]


def test_invalid_options_are_refused(run: Run) -> None:
    for options, message in (
        ({"drain": ["z"]}, "drain: no such node: z"),
        ({"instancetypes": ["none"]}, "instancetypes: none: no such VirtualMachineClusterInstancetype"),
        ({"manifests": [{"spec": 5}]}, "manifests[0]: is not a VirtualMachine manifest"),
        ({"manifests": [{"spec": {"template": {"spec": {"domian": {}}}}}]}, "manifests[0].spec"),
        ({"names": ["z"]}, "names: no such virtual machine in shop: z"),
    ):
        assert message in placement_info(run, store(), namespace="shop", **options)["msg"], options
