"""capacity_info: VMs of a cluster and declared ones, with a quota, a limit range and a node that the test makes.

The module virtual_machine makes the same checks before it sends anything.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, by_name, live, objects, vm, warned


@pytest.fixture
def quota(api: Any, shop: str) -> str:
    """The name of a quota that has room for one VM of the instancetype small."""
    quotas = api.resources.get(api_version="v1", kind="ResourceQuota")
    hard = {"requests.memory": "4Gi", "pods": "5"}
    quotas.create({"metadata": {"name": "team"}, "spec": {"hard": hard}}, namespace=shop)
    return "team"


def test_quota_admits_one_of_two_vms(task: Task, api: Any, shop: str, quota: str) -> None:
    manifests = [
        {
            "metadata": {"name": name},
            "spec": {
                "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
                "template": {"spec": {"domain": {"devices": {}}}},
            },
        }
        for name in ("a", "b")
    ]
    result = task("capacity_info", checks=["quota"], manifests=manifests)
    assert "msg" not in result, result
    assert [item["fits"] for item in result["virtual_machines"]] == [True, False]
    assert f"ResourceQuota {quota} lacks " in result["virtual_machines"][1]["problem"]
    (line,) = result["quotas"]
    assert (line["name"], line["resources"]["pods"]["wanted"]) == (quota, "2")

    limits = api.resources.get(api_version="v1", kind="LimitRange")
    limit = {"type": "Container", "max": {"memory": "1Gi"}}
    limits.create({"metadata": {"name": "little"}, "spec": {"limits": [limit]}}, namespace=shop)
    result = task("capacity_info", checks=["quota"], manifests=manifests[:1])
    assert "more than its limit of 1Gi" in result["virtual_machines"][0]["problem"]


def test_quota_check_refuses_what_the_server_would(task: Task, shop: str, api: Any, quota: str) -> None:
    both = [vm("a"), vm("b")]
    refused = task.refused("virtual_machine", virtual_machines=both, preflight_quota="strict")
    assert refused["msg"].startswith(f"preflight_quota: {shop}/b: ResourceQuota {quota} lacks ")
    assert [item["will_run"]["fits"] for item in refused["results"]] == [True, False]
    assert task.vms() == {}

    assert task("virtual_machine", **both[0], preflight_quota="strict", wait=True)["result"]["status"] == "Running"
    # The pod of the first one counts now, and the declaration counts it once only.
    result = task("virtual_machine", virtual_machines=both, preflight_quota="warn")
    assert by_name(result["results"])["b"]["will_run"]["fits"] is False
    assert f"{shop}/b: ResourceQuota {quota} lacks " in str(warned(result))
    wait_until(lambda: f"exceeded quota: {quota}" in str(live(api, shop, "b").get("status")))


@pytest.fixture
def node(api: Any, namespace: str) -> Iterator[str]:
    """A node that only pods with a node selector for it can run on."""
    labels = {
        "kubevirt.io/schedulable": "true",
        "kubernetes.io/arch": "amd64",
        "machine-type.node.kubevirt.io/q35": "true",
        "placement": namespace,
    }
    devices = {f"devices.kubevirt.io/{name}": "10" for name in ("kvm", "tun", "vhost-net")}
    amounts = {"cpu": "4", "memory": "5Gi", "ephemeral-storage": "10G", "pods": "10", **devices}
    nodes = objects(api, "Node")
    nodes.create(
        {
            "metadata": {"name": f"node-{namespace}", "labels": labels},
            "spec": {"taints": [{"key": "placement", "effect": "NoSchedule"}]},
            "status": {"allocatable": amounts, "capacity": amounts},
        }
    )
    yield f"node-{namespace}"
    nodes.delete(f"node-{namespace}")


def test_nodes_fit_two_of_three_vms(task: Task, shop: str, node: str) -> None:
    place = {"nodeSelector": {"placement": shop}, "tolerations": [{"operator": "Exists"}]}
    manifests = [
        {
            "metadata": {"name": name},
            "spec": {
                "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
                "template": {"spec": {"domain": {"devices": {}}, **place}},
            },
        }
        for name in ("a", "b", "c")
    ]
    result = task("capacity_info", manifests=manifests)
    assert "msg" not in result, result
    assert [item["placement"].get("node") for item in result["virtual_machines"]] == [node, node, None]
    assert f"{node} lacks" in result["virtual_machines"][2]["problem"]
    assert result["fits"] is False


def test_placement_check_refuses_a_vm_without_room(task: Task, shop: str, node: str) -> None:
    place = {"nodeSelector": {"placement": shop}, "tolerations": [{"operator": "Exists"}]}
    three = [vm(name, spec={"template": {"spec": place}}) for name in ("a", "b", "c")]
    refused = task.refused("virtual_machine", virtual_machines=three, preflight_placement="strict")
    assert refused["msg"].startswith(f"preflight_placement: {shop}/c: ") and f"{node} lacks" in refused["msg"]
    assert [item["will_run"]["fits"] for item in refused["results"]] == [True, True, False]
    assert task.vms() == {}
    assert task("virtual_machine", virtual_machines=three[:2], preflight_placement="strict")["changed"]
    assert [*task.vms()] == ["a", "b"]


def test_guests_of_drained_nodes_need_others(task: Task, shop: str, api: Any, node: str) -> None:
    # With a toleration of all taints, the guests could stay where nobody else can go.
    taints = ("placement", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    place = {"tolerations": [{"key": taint, "operator": "Exists"} for taint in taints]}
    three = [vm(name, spec={"template": {"spec": place}}) for name in ("a", "b", "c")]
    task("virtual_machine", virtual_machines=three, wait=True)
    source = live(api, shop, "a", "VirtualMachineInstance")["status"]["nodeName"]
    nodes = objects(api, "Node")
    # Those of virt-handler; other tests have nodes, too, which may go meanwhile.
    metadata = [item.to_dict()["metadata"] for item in nodes.get().items]
    others = [item["name"] for item in metadata if "kubevirt.io/heartbeat" in item.get("annotations", {})]

    def drained() -> dict[str, dict[str, Any]]:
        result = task("capacity_info", checks=["placement"], drain=others)
        assert result["fits"] is False
        return by_name([item for item in result["drained"] if item["namespace"] == shop])

    # KubeVirt moves a guest only to nodes that can imitate the CPU of its own.
    assert ["the label cpu-model-migration." in item["problem"] for item in drained().values()] == [True] * 3
    labels = nodes.get(source).to_dict()["metadata"]["labels"]
    body = {"metadata": {"labels": {key: labels[key] for key in labels if "node.kubevirt.io/" in key}}}
    nodes.patch(name=node, body=body, content_type="application/merge-patch+json")
    found = drained()
    assert {name: item.get("target") for name, item in found.items()} == {"a": node, "b": node, "c": None}
    assert {item["node"] for item in found.values()} == {source}
    assert f"{node} lacks " in found["c"]["problem"]
    assert task("capacity_info", checks=["placement"])["drained"] == []


def test_existing_vm_with_missing_instancetype(task: Task, shop: str) -> None:
    assert task("virtual_machine", **vm("web", "nowhere", preference=None), preflight="off")["changed"]
    (item,) = task("capacity_info")["virtual_machines"]
    assert (item["name"], item["fits"]) == ("web", False)
    assert "not found" in item["problem"]


def test_resource_claims_are_not_evaluated(task: Task, shop: str, node: str) -> None:
    def checked(place: str) -> dict[str, Any]:
        guest = {
            "domain": {"devices": {}},
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpus"}],
            "nodeSelector": {"placement": place},
            "tolerations": [{"operator": "Exists"}],
        }
        matcher = {"name": "small", "kind": "VirtualMachineInstancetype"}
        vm = {"metadata": {"name": "a"}, "spec": {"instancetype": matcher, "template": {"spec": guest}}}
        item: dict[str, Any]
        (item,) = task("capacity_info", checks=["placement"], manifests=[vm])["virtual_machines"]
        return item

    claiming = checked(shop)
    assert (claiming["evaluated"], claiming["fits"]) == (False, False)
    assert claiming["problem"] == "its resource claims are not evaluated: only kube-scheduler can choose their devices"
    lonely = checked("nowhere")
    assert (lonely["evaluated"], lonely["fits"]) == (True, False)
    assert "lack the label placement=nowhere" in lonely["problem"]
