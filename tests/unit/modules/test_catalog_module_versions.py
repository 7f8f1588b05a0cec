"""catalog: the version of a catalog that fits the cluster, and preferences that do not."""

from typing import Any

import pytest

from scripted_server import Run, Store

PREFERENCES = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/shop/virtualmachinepreferences"
VIDEO: dict[str, Any] = {"spec": {"devices": {"preferredVideoType": "virtio"}}}
CATALOG = {
    "families": {
        "desktop": {**VIDEO, "preferences": {"acme": {}}},
        "arm64": {**VIDEO, "requires": {"architecture": "arm64"}, "preferences": {"acme.arm64": {}}},
    },
    "versions": {
        "v2": {"kubevirt": "1.9"},
        "v1": {"kubevirt": "1.4", "families": {"desktop": {"spec": None}}, "without": ["acme.arm64"]},
    },
}


def kubevirt_1_8(architecture: str = "amd64") -> Store:
    """A cluster whose preferences have no video type."""
    status = {"observedKubeVirtVersion": "v1.8.4", "defaultArchitecture": architecture}
    existing = {"properties": {"devices": {"properties": {}}, "requirements": {"properties": {"architecture": {}}}}}
    served = {"name": "v1beta1", "served": True, "schema": {"openAPIV3Schema": {"properties": {"spec": existing}}}}
    name = "virtualmachinepreferences.instancetype.kubevirt.io"
    return Store(
        {
            PREFERENCES: [],
            "/apis/kubevirt.io/v1/kubevirts": [{"metadata": {"name": "kubevirt"}, "status": status}],
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": [
                {"metadata": {"name": name}, "spec": {"versions": [served]}}
            ],
        }
    )


@pytest.fixture
def deploy(run: Run) -> Run:
    def run_module(store: Store, **options: Any) -> dict[str, Any]:
        provided = {"namespaces": ["shop"], "source": "definitions", "definitions": [CATALOG], "kinds": ["preference"]}
        return run("catalog", store, **{**provided, **options})

    return run_module


@pytest.mark.parametrize("requested", [{}, {"version": "auto"}])
def test_the_matching_version_is_deployed(deploy: Run, requested: dict[str, str]) -> None:
    store = kubevirt_1_8()
    result = deploy(store, **requested)
    assert result["msg"] == (
        "catalog custom v1 (the cluster runs KubeVirt v1.8.4): 0 instancetypes, 1 preference: 1 created"
    )
    assert (result["catalog_version"], result["version_reason"]) == ("v1", "the cluster runs KubeVirt v1.8.4")
    assert (result["lost_fields"], result["deployed_versions"]["after"]) == ([], {"v1": 1})
    assert [path.rpartition("/")[2] for _method, path in store.writes] == ["acme"]


def test_a_requested_version_stays(deploy: Run) -> None:
    store = kubevirt_1_8()
    refused = deploy(store, version="v2")
    assert refused["msg"].startswith(
        "1 of 2 objects failed: shop/acme: the cluster's KubeVirt does not know spec.devices.pre"
    )
    assert refused["version_reason"] == ""
    assert store.writes == []
    result = deploy(store, version="v2", lost_fields="warn")
    assert result["msg"] == "catalog custom v2: 0 instancetypes, 2 preferences: 2 created"


def test_a_preference_of_another_architecture_does_not_fail(deploy: Run) -> None:
    arm64 = {"version": "v2", "preferences": ["acme.arm64"]}
    result = deploy(kubevirt_1_8(), **arm64)
    assert result["msg"] == "catalog custom v2: 0 instancetypes, 1 preference: 1 created"
    [warned] = result["warnings"]
    assert warned.startswith(
        "VirtualMachinePreference shop/acme.arm64: the cluster's KubeVirt does not know spec.devices"
    )
    assert warned.endswith(
        "; the task deploys it without these fields, because it is for arm64 and the cluster runs amd64"
    )
    assert [item["name"] for item in result["lost_fields"]] == ["acme.arm64"]
    assert deploy(kubevirt_1_8(), lost_fields="ignore", **arm64)["warnings"] == []


def test_lost_fields_of_matching_architecture_fail_the_task(deploy: Run) -> None:
    store = kubevirt_1_8("arm64")
    refused = deploy(store, version="v2", preferences=["acme.arm64"])
    assert refused["failed"] and store.writes == []
