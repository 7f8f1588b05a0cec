"""The VMI of a VM, beyond what the vectors show."""

import copy
from typing import Any

from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.config.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.find.lookup import PANIC, Objects
from plugins.module_utils._resolver.kubevirt.vmi import vmi

OBJECTS = [
    {
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "u"},
        "spec": {
            "cpu": {"guest": 2},
            "memory": {"guest": "2Gi"},
            "annotations": {"kubevirt.io/cluster-instancetype-name": "other"},
        },
    },
    {
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "quiet"},
        "spec": {"devices": {"preferredAutoattachPodInterface": False}},
    },
]


def vm(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "not-mine", "generateName": "x-", "labels": {"app": "web"}, "annotations": {"k": "v"}}
    template = {"metadata": metadata, "spec": {"domain": {"devices": {}}}}
    return {"metadata": {"name": "a", "namespace": "web", "uid": "1"}, "spec": {"template": template, **spec}}


def test_metadata_has_name_and_owner_of_vm() -> None:
    built = vmi.build(vm(), Cluster(Objects([])))
    assert built.metadata is not None
    owner = built.metadata.pop("ownerReferences")
    assert built.metadata == {
        "name": "a",
        "namespace": "web",
        "labels": {"app": "web"},
        "annotations": {"k": "v"},
    }
    assert [(entry["kind"], entry["name"], entry["uid"]) for entry in owner] == [("VirtualMachine", "a", "1")]


def test_annotation_of_instancetype_conflicts_with_its_name() -> None:
    error = vmi.build(vm(instancetype={"name": "u"}), Cluster(Objects(OBJECTS))).error
    assert error is not None
    assert error.message == (
        "VMI conflicts with instancetype spec in fields: [annotations.kubevirt.io/cluster-instancetype-name]"
    )


def test_preference_can_omit_pod_interface() -> None:
    built = vmi.build(vm(preference={"name": "quiet"}), Cluster(Objects(OBJECTS)))
    assert built.spec is not None
    assert "networks" not in built.spec
    assert "interfaces" not in built.spec["domain"]["devices"]


def test_missing_preference_is_reported_first() -> None:
    error = vmi.build(vm(instancetype={"name": "i"}, preference={"name": "p"}), Cluster(Objects([]))).error
    assert error is not None
    assert error.message == 'virtualmachineclusterpreferences.instancetype.kubevirt.io "p" not found'


def test_start_paused() -> None:
    manifest = vm()
    manifest["status"] = {"stateChangeRequests": [{"action": "Start", "data": {"paused": "true"}}]}
    built = vmi.build(manifest, Cluster(Objects([])))
    assert built.spec is not None
    assert built.spec["startStrategy"] == "Paused"


def test_vm_without_template_crashes_kubevirt() -> None:
    error = vmi.build(vm(template=None), Cluster(Objects([]))).error
    assert error is not None
    assert error.reason == PANIC


def test_inputs_stay_unchanged() -> None:
    manifest, objects = vm(preference={"name": "quiet"}), copy.deepcopy(OBJECTS)
    before = copy.deepcopy(manifest)
    assert vmi.build(manifest, Cluster(Objects(objects))).error is None
    assert (manifest, objects) == (before, OBJECTS)


def test_errors_of_build() -> None:
    def failed(template: dict[str, Any], *objects: dict[str, Any], **spec: Any) -> Any:
        vm = {"metadata": {"name": "a", "namespace": "web"}, "spec": {"template": template, **spec}}
        return vmi.build(
            vm, Cluster(Objects(objects), KubeVirt(NEWEST, {"network": {"defaultNetworkInterface": "slirp"}}))
        ).error

    networks = {"devices": {"autoattachPodInterface": False}}
    assert failed({"spec": {"domain": {"cpu": {"cores": "two"}}}}).code == 400
    assert failed({"spec": {"domain": {"devices": {}}}}).message == "slirp interface is deprecated as of v1.3"
    missing = failed({"spec": {"domain": networks}}, instancetype={"name": "i"})
    assert (missing.reason, missing.code) == ("NotFound", 404)
    features = {"cpu": {"preferredCPUFeatures": [{"name": "vmx"}]}}
    preference = {"kind": "VirtualMachineClusterPreference", "metadata": {"name": "p"}, "spec": features}
    assert failed({"spec": {"domain": networks}}, preference, preference={"name": "p"}).reason == PANIC


def test_vmi_of_vm_without_name() -> None:
    nameless = vm()
    nameless["metadata"] = {}
    built = vmi.build(nameless, Cluster(Objects([])))
    assert built.metadata is not None
    assert "name" not in built.metadata and "namespace" not in built.metadata
