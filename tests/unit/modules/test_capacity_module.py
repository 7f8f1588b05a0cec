"""capacity_info on a scripted cluster: what quotas and nodes say together."""

from collections.abc import Callable
from typing import Any

from scripted_server import KUBEVIRT, KUBEVIRTS, Store, forbidden

Manifest = dict[str, Any]
Run = Callable[..., dict[str, Any]]

SPACE = "/api/v1/namespaces/shop"
LABELS = {
    "kubevirt.io/schedulable": "true",
    "kubernetes.io/arch": "amd64",
    "machine-type.node.kubevirt.io/q35": "true",
}
DEVICES = {f"devices.kubevirt.io/{name}": "1k" for name in ("kvm", "tun", "vhost-net")}


def node(name: str) -> Manifest:
    amounts = {"cpu": "8", "memory": "10Gi", "ephemeral-storage": "100G", "pods": "110", **DEVICES}
    labels = {**LABELS, "kubernetes.io/hostname": name}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": amounts}}


def vm(name: str) -> Manifest:
    domain = {"devices": {}, "memory": {"guest": "4Gi"}}
    spec = {"template": {"spec": {"domain": domain}}}
    return {"kind": "VirtualMachine", "metadata": {"name": name, "namespace": "shop", "uid": name}, "spec": spec}


def launcher(name: str) -> Manifest:
    labels = {"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": f"uid-{name}", "vmi.kubevirt.io/id": name}
    container = {"name": "compute", "resources": {"requests": {"memory": "5Gi"}}}
    metadata = {"name": f"virt-launcher-{name}", "namespace": "shop", "labels": labels}
    return {"metadata": metadata, "spec": {"nodeName": "x", "containers": [container]}}


def store(*vms: Manifest, memory: str = "100Gi", nodes: int = 1, pods: tuple[Manifest, ...] = ()) -> Store:
    quota = {"metadata": {"name": "team", "namespace": "shop"}, "spec": {"hard": {"requests.memory": memory}}}
    return Store(
        {
            "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines": list(vms),
            KUBEVIRTS: [KUBEVIRT],
            f"{SPACE}/resourcequotas": [quota],
            f"{SPACE}/limitranges": [],
            f"{SPACE}/pods": list(pods),
            "/api/v1/nodes": [node(name) for name in "xyz"[:nodes]],
            "/api/v1/pods": list(pods),
            "/api/v1/namespaces": [{"metadata": {"name": "shop"}}],
            "/api/v1/resourcequotas": [quota],
            "/api/v1/persistentvolumeclaims": [],
            "/api/v1/persistentvolumes": [],
            "/apis/storage.k8s.io/v1/storageclasses": [],
        }
    )


def test_vm_fits_if_quotas_and_nodes_permit(run: Run) -> None:
    result = run("capacity_info", store(vm("a"), vm("b"), vm("c"), memory="6Gi"), namespace="shop")
    assert (result["changed"], result["fits"], result["warnings"]) == (False, False, [])
    first, second, third = result["virtual_machines"]
    assert (first["fits"], first["problem"], first["placement"]["node"]) == (True, "", "x")
    assert second["placement"]["fits"] and not second["quota"]["fits"]
    assert (second["evaluated"], second["fits"], second["problem"]) == (True, False, second["quota"]["problem"])
    assert third["problem"] == f"{third['quota']['problem']}; {third['placement']['problem']}"
    assert (result["quotas"][0]["name"], result["drained"], result["instancetypes"]) == ("team", [], [])


def test_only_objects_of_requested_checks_are_read(run: Run) -> None:
    cluster = store(vm("a"))
    cluster.answers["GET", "/api/v1/nodes"] = forbidden("nodes")
    (item,) = run("capacity_info", cluster, namespace="shop", checks=["quota"])["virtual_machines"]
    assert item["fits"] and "placement" not in item
    cluster = store(vm("a"))
    cluster.answers["GET", f"{SPACE}/limitranges"] = forbidden("limitranges")
    (item,) = run("capacity_info", cluster, namespace="shop", checks=["placement"])["virtual_machines"]
    assert item["fits"] and "quota" not in item
    assert run("capacity_info", cluster, checks=[])["msg"] == "checks: is empty; name quota, placement or both"


def test_running_option_decides_the_needed_room(run: Run) -> None:
    for running, nodes, fits in (
        ("keep", 1, True),
        ("migrate", 1, False),
        ("migrate", 2, True),
        ("restart", 1, True),
    ):
        cluster = store(vm("a"), nodes=nodes, pods=(launcher("a"),))
        result = run("capacity_info", cluster, namespace="shop", running=running)
        (item,) = result["virtual_machines"]
        assert (result["fits"], item["fits"], item["evaluated"]) == (fits, fits, True), running
        assert bool(item["problem"]) is not fits
        assert ("migration" in item["placement"]) is (running != "restart")
