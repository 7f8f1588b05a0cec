"""The VMI of a VM, beyond what the vectors show."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import (
    CRASH,
    Objects,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi import vmi
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.configuration import (
    Configuration,
)

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


def test_metadata_is_the_template_s_with_the_vm_s_name_and_owner() -> None:
    built = vmi.build(vm(), Objects([]))
    assert built.metadata is not None
    owner = built.metadata.pop("ownerReferences")
    assert built.metadata == {
        "name": "a",
        "namespace": "web",
        "labels": {"app": "web"},
        "annotations": {"k": "v"},
    }
    assert [(entry["kind"], entry["name"], entry["uid"]) for entry in owner] == [("VirtualMachine", "a", "1")]


def test_an_instancetype_s_annotation_can_conflict_with_its_own_name() -> None:
    error = vmi.build(vm(instancetype={"name": "u"}), Objects(OBJECTS)).error
    assert error is not None
    assert error.message == (
        "VMI conflicts with instancetype spec in fields: [annotations.kubevirt.io/cluster-instancetype-name]"
    )


def test_a_preference_can_keep_the_pod_interface_away() -> None:
    built = vmi.build(vm(preference={"name": "quiet"}), Objects(OBJECTS))
    assert built.spec is not None
    assert "networks" not in built.spec
    assert "interfaces" not in built.spec["domain"]["devices"]


def test_the_missing_preference_is_noticed_first() -> None:
    error = vmi.build(vm(instancetype={"name": "i"}, preference={"name": "p"}), Objects([])).error
    assert error is not None
    assert error.message == 'virtualmachineclusterpreferences.instancetype.kubevirt.io "p" not found'


def test_start_paused() -> None:
    given = vm()
    given["status"] = {"stateChangeRequests": [{"action": "Start", "data": {"paused": "true"}}]}
    built = vmi.build(given, Objects([]))
    assert built.spec is not None
    assert built.spec["startStrategy"] == "Paused"


def test_a_vm_without_a_template_crashes_kubevirt() -> None:
    error = vmi.build(vm(template=None), Objects([])).error
    assert error is not None
    assert error.reason == CRASH


def test_inputs_stay_as_they_are() -> None:
    given, objects = vm(preference={"name": "quiet"}), copy.deepcopy(OBJECTS)
    before = copy.deepcopy(given)
    assert vmi.build(given, Objects(objects)).error is None
    assert (given, objects) == (before, OBJECTS)


def test_what_cannot_be_built_is_told() -> None:
    def failed(template: dict[str, Any], *objects: dict[str, Any], **spec: Any) -> Any:
        vm = {"metadata": {"name": "a", "namespace": "web"}, "spec": {"template": template, **spec}}
        return vmi.build(vm, Objects(objects), Configuration(network_interface="slirp")).error

    networks = {"devices": {"autoattachPodInterface": False}}
    assert failed({"spec": {"domain": {"cpu": {"cores": "two"}}}}).code == 400
    assert failed({"spec": {"domain": {"devices": {}}}}).message == "slirp interface is deprecated as of v1.3"
    missing = failed({"spec": {"domain": networks}}, instancetype={"name": "i"})
    assert (missing.reason, missing.code) == ("NotFound", 404)
    features = {"cpu": {"preferredCPUFeatures": [{"name": "vmx"}]}}
    preference = {"kind": "VirtualMachineClusterPreference", "metadata": {"name": "p"}, "spec": features}
    assert failed({"spec": {"domain": networks}}, preference, preference={"name": "p"}).reason == CRASH


def test_a_vm_without_a_name_gives_its_vmi_none() -> None:
    nameless = vm()
    nameless["metadata"] = {}
    built = vmi.build(nameless, Objects([]))
    assert built.metadata is not None
    assert "name" not in built.metadata and "namespace" not in built.metadata
