"""catalog_info on clusters that do not let it read, or hold what it cannot understand."""

from typing import Any

from scripted_server import VMS, Manifest, Run, Store

TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
NAMESPACED = f"{TYPES}/namespaces/shop/virtualmachineinstancetypes"
SHARED = f"{TYPES}/virtualmachineclusterinstancetypes"
PREFERENCES = f"{TYPES}/namespaces/shop/virtualmachinepreferences"
SHARED_PREFERENCES = f"{TYPES}/virtualmachineclusterpreferences"


def size(name: str, memory: Any = "2Gi", **metadata: Any) -> Manifest:
    return {"metadata": {"name": name, **metadata}, "spec": {"cpu": {"guest": 1}, "memory": {"guest": memory}}}


def catalog(*namespaced: Manifest) -> Store:
    own = [{**item, "metadata": {**item["metadata"], "namespace": "shop"}} for item in namespaced]
    vm = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"}},
    }
    return Store({NAMESPACED: own, SHARED: [], PREFERENCES: [], SHARED_PREFERENCES: [], VMS: [vm]})


def names(result: dict[str, Any]) -> list[str]:
    return [item["name"] for item in result["instancetypes"]]


def test_unreadable_objects_are_skipped_with_a_warning(run: Run) -> None:
    result = run("catalog_info", catalog(size("small"), size("odd", memory=["2Gi"])), namespace="shop")
    assert names(result) == ["small"]
    assert [text.partition(":")[0] for text in result["warnings"]] == ["VirtualMachineInstancetype odd cannot be read"]


def test_a_cluster_without_kubevirt(run: Run) -> None:
    refused = run("catalog_info", Store({}))
    assert refused["msg"] == (
        "the cluster has no virtualmachineclusterinstancetypes.instancetype.kubevirt.io "
        "(instancetype.kubevirt.io/v1beta1); check that KubeVirt is installed"
    )
