"""Expansion, beyond what the vectors show."""

import copy
from typing import Any

import pytest
from kubevirt_failures import failure, status

from plugins.module_utils._resolver.api.errors import Panic
from plugins.module_utils._resolver.api.release import parse_release
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm.expand import expand

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


def test_missing_template_crashes_only_with_matchers() -> None:
    error = failure(expand, vm(instancetype={"name": "u"}, template=None), Cluster(Objects(OBJECTS)))
    assert isinstance(error, Panic) and error.message == "the VirtualMachine has no template"
    assert expand(vm(template=None), Cluster(Objects([])))["spec"]["template"] is None


def test_error_names_field_of_wrong_type() -> None:
    error = failure(expand, vm(template={"spec": {"domain": {"cpu": {"cores": "two"}}}}), Cluster(Objects([])))
    message = "spec.template.spec.domain.cpu.cores: expected a whole number, found 'two'"
    assert status(error) == (message, "BadRequest", 400)


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
    error = failure(expand, manifest, Cluster(Objects(OBJECTS), KubeVirt(parse_release(version))))
    assert status(error) == (message, "BadRequest", 400)
