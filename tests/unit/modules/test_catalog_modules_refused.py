"""Modules that read catalogs, of clusters that do not let them or hold what they cannot understand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scripted_server import Store, forbidden

Run = Callable[..., dict[str, Any]]
Manifest = dict[str, Any]

TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
NAMESPACED = f"{TYPES}/namespaces/shop/virtualmachineinstancetypes"
SHARED = f"{TYPES}/virtualmachineclusterinstancetypes"
PREFERENCES = f"{TYPES}/namespaces/shop/virtualmachinepreferences"
SHARED_PREFERENCES = f"{TYPES}/virtualmachineclusterpreferences"
VMS = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines"


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
    matches = run("instancetype_info", catalog(size("small"), size("odd", memory=["2Gi"])), namespace="shop")
    assert names(matches) == ["small"]
    assert [text.partition(":")[0] for text in matches["warnings"]] == ["VirtualMachineInstancetype odd cannot be read"]
    result = run("catalog_info", catalog(size("small"), size("odd", memory=["2Gi"])), namespace="shop")
    assert [item["name"] for item in result["matrix"]["instancetypes"]] == ["small"]
    assert len(result["warnings"]) == 1


def test_usage_is_unknown_if_listing_vms_is_forbidden(run: Run) -> None:
    store = catalog(size("small"), size("large"))
    result = run("instancetype_info", store, namespace="shop")
    assert {item["name"]: item["used_by"] for item in result["instancetypes"]} == {"small": ["shop/web"], "large": []}
    store.answers[("GET", "/virtualmachines")] = forbidden("virtualmachines")
    result = run("instancetype_info", store, namespace="shop")
    assert [item["used_by"] for item in result["instancetypes"]] == [None, None]
    assert result["warnings"] == [
        "cannot tell which virtual machines use them: virtualmachines is forbidden. To permit the request, grant "
        '{apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["list"]}'
    ]


@pytest.mark.parametrize(("option", "value"), [("in_use", False), ("used_by", ["shop/web"])])
def test_usage_filters_need_permission_to_list_vms(run: Run, option: str, value: Any) -> None:
    store = catalog(size("small"), size("large"))
    assert names(run("instancetype_info", store, namespace="shop", **{option: value})) == [
        "large" if option == "in_use" else "small"
    ]
    store.answers[("GET", "/virtualmachines")] = forbidden("virtualmachines")
    refused = run("instancetype_info", store, namespace="shop", **{option: value})
    assert refused["failed"]
    assert refused["msg"].startswith(f"{option}: virtualmachines is forbidden. To permit the request, grant ")


def test_a_forbidden_list_names_the_missing_right(run: Run) -> None:
    store = catalog(size("small"))
    store.answers[("GET", "/virtualmachineclusterpreferences")] = forbidden("virtualmachineclusterpreferences")
    for module in ("preference_info", "catalog_info"):
        refused = run(module, store, namespace="shop")
        assert refused["failed"]
        assert 'resources: ["virtualmachineclusterpreferences"], verbs: ["list"]' in refused["msg"]


def test_an_amount_that_is_none(run: Run) -> None:
    refused = run("instancetype_info", catalog(), memory_min="4GB")
    assert refused["msg"] == "memory_min: '4GB' is not a quantity; write a quantity such as 4Gi"


@pytest.mark.parametrize("module", ["instancetype_info", "preference_info", "catalog_info"])
def test_a_kubeconfig_that_is_not_there(run: Run, module: str) -> None:
    refused = run(module, catalog(), kubeconfig="/nowhere")
    assert refused["msg"] == "kubeconfig /nowhere: no such file; set kubeconfig or K8S_AUTH_KUBECONFIG"


def test_a_cluster_without_kubevirt(run: Run) -> None:
    refused = run("instancetype_info", Store({}))
    assert refused["msg"] == (
        "the cluster has no virtualmachineclusterinstancetypes.instancetype.kubevirt.io "
        "(instancetype.kubevirt.io/v1beta1); check that KubeVirt is installed"
    )
