"""Expansion, beyond what the vectors show."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api import release_schema
from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.config.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.find.lookup import PANIC, Objects, Problem
from plugins.module_utils._resolver.kubevirt.vmi.expand import expand, fill

OBJECTS = [
    {
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "u"},
        "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2048Mi"}, "annotations": {"a": "1"}},
    },
    {
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "zero"},
        "spec": {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}}},
    },
]


def vm(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"domain": {"devices": {}}, "nodeSelector": {}}}
    manifest = {"metadata": {"name": "a", "namespace": "web"}, "spec": {"template": template, **spec}}
    return copy.deepcopy(manifest)


def test_inputs_stay_unchanged() -> None:
    manifest, objects = vm(instancetype={"name": "u"}), copy.deepcopy(OBJECTS)
    before = copy.deepcopy(manifest)
    expanded = expand(manifest, Cluster(Objects(objects)))
    assert expanded.vm is not None
    assert expanded.vm["spec"]["template"]["metadata"] == {"labels": {"app": "web"}, "annotations": {"a": "1"}}
    assert (manifest, objects) == (before, OBJECTS)


def test_vm_without_matchers_becomes_canonical() -> None:
    expanded = expand(vm(), Cluster(Objects([])))
    assert expanded.vm is not None
    assert expanded.vm["spec"]["template"]["spec"] == {"domain": {"devices": {}, "resources": {}}}


@pytest.mark.parametrize("version", ["1.4", "1.9"])
def test_new_vmi_gets_defaults_in_every_release(version: str) -> None:
    template = release_schema.canonical("VirtualMachineInstanceTemplateSpec", {"spec": {"domain": {"devices": {}}}})
    problem = fill(template, {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}, None, KubeVirt(parse_release(version)))
    assert problem is None
    assert template["spec"]["networks"] == [{"name": "default", "pod": {}}]


def test_crash_is_returned_as_error() -> None:
    error = expand(vm(instancetype={"name": "u"}, preference={"name": "zero"}), Cluster(Objects(OBJECTS))).error
    assert error is not None
    assert error.reason == PANIC


def test_missing_template_crashes_only_with_matchers() -> None:
    error = expand(vm(instancetype={"name": "u"}, template=None), Cluster(Objects(OBJECTS))).error
    assert error == Problem("the VirtualMachine has no template", PANIC)
    assert expand(vm(template=None), Cluster(Objects([]))).error is None


def test_error_names_field_of_wrong_type() -> None:
    error = expand(vm(template={"spec": {"domain": {"cpu": {"cores": "two"}}}}), Cluster(Objects([]))).error
    message = "spec.template.spec.domain.cpu.cores: expected a whole number, found 'two'"
    assert error == Problem(message, "BadRequest", 400)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.9", "VM field(s) spec.template.spec.domain.memory.guest conflicts with selected instance type"),
        ("1.5", "VM field(s) spec.template.spec.domain.memory conflicts with selected instance type"),
    ],
)
def test_conflict_is_bad_request_with_message_of_release(version: str, message: str) -> None:
    manifest = vm(instancetype={"name": "u", "kind": "VirtualMachineClusterInstancetype"})
    manifest["spec"]["template"]["spec"]["domain"]["memory"] = {"guest": "1Gi"}
    expanded = expand(manifest, Cluster(Objects(OBJECTS), KubeVirt(parse_release(version))))
    assert (expanded.vm, expanded.error) == (None, Problem(message, "BadRequest", 400))


def test_forbidden_interface_is_an_error() -> None:
    kubevirt = KubeVirt(NEWEST, {"network": {"permitBridgeInterfaceOnPodNetwork": False}})
    error = expand(vm(instancetype={"name": "u"}), Cluster(Objects(OBJECTS), kubevirt)).error
    assert error is not None
    assert error.message == "bridge interface is not enabled in kubevirt-config"
