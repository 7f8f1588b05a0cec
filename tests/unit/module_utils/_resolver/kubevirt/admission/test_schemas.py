"""Rejections by the schemas of virt-api and of the CustomResourceDefinitions, by release."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api import release
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.admission.schemas import causes, object_causes

Spec = dict[str, Any]


def vm(_spec: Spec | None = None, _devices: Spec | None = None, **fields: Any) -> Spec:
    return {**fields, "template": {"spec": {"domain": {"devices": _devices or {}}, **(_spec or {})}}}


SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
SOURCE = {"source": {"blank": {}}, "storage": {}}
TEMPLATE = "spec.template.spec"
CASES: dict[str, tuple[Spec, list[str]]] = {
    "complete": (vm(), []),
    "a null time": ({"template": {"metadata": {"creationTimestamp": None}}}, []),
    "null metadata": ({"template": {"metadata": None}}, ["spec.template.metadata"]),
    "nulls in metadata": (
        {"template": {"metadata": {"name": None, "generation": None, "finalizers": None, "labels": None}}},
        [f"spec.template.metadata.{name}" for name in ("name", "generation", "labels", "finalizers")],
    ),
    "a null in the metadata of a disk": (
        vm(dataVolumeTemplates=[{"metadata": {"labels": None}, "spec": SOURCE}]),
        ["spec.dataVolumeTemplates[0].metadata.labels"],
    ),
    "values that OpenAPI has": (
        vm(
            {"tolerations": [{"effect": "Never"}, {"effect": "NoExecute"}], "dnsPolicy": "Any"},
            dataVolumeTemplates=[
                {"metadata": {"name": "a"}, "spec": {**SOURCE, "storage": {"accessModes": ["ReadWriteOnce", "All"]}}}
            ],
        ),
        [
            "spec.dataVolumeTemplates.spec.storage.accessModes",
            f"{TEMPLATE}.tolerations.effect",
            f"{TEMPLATE}.dnsPolicy",
        ],
    ),
    "a lock of memory": (
        {"template": {"spec": {"domain": {"devices": {}, "memory": {"reservedOverhead": {"memLock": "Maybe"}}}}}},
        [f"{TEMPLATE}.domain.memory.reservedOverhead.memLock"],
    ),
    "no template": ({}, ["spec.template"]),
    "no domain": ({"template": {"spec": {}}}, [f"{TEMPLATE}.domain"]),
    "an empty template is one": ({"template": {}}, []),
    "no devices": ({"template": {"spec": {"domain": {"devices": None}}}}, [f"{TEMPLATE}.domain.devices"]),
    "lists": (
        vm({"accessCredentials": [{"sshPublicKey": {"source": {}}}, {"userPassword": {}}]}),
        [
            f"{TEMPLATE}.accessCredentials[0].sshPublicKey.propagationMethod",
            f"{TEMPLATE}.accessCredentials[1].userPassword.source",
            f"{TEMPLATE}.accessCredentials[1].userPassword.propagationMethod",
        ],
    ),
    "a null in a list": (vm({"volumes": [None]}), [f"{TEMPLATE}.volumes[0]"]),
    "texts have defaults": (
        vm(_devices={"inputs": [{"bus": "usb"}]}),
        [],
    ),
    "a machine without type": ({"template": {"spec": {"domain": {"devices": {}, "machine": {}}}}}, []),
    "probes": (vm({"readinessProbe": {"tcpSocket": {}}}), [f"{TEMPLATE}.readinessProbe.tcpSocket.port"]),
    "dropped": (vm({"bogus": {"name": 1}}), []),
    "kept metadata": (
        {"template": {**vm()["template"], "metadata": {"bogus": 1}}},
        ["spec.template.metadata.bogus"],
    ),
    "content type": (
        vm(dataVolumeTemplates=[{"metadata": {"name": "a"}, "spec": {**SOURCE, "contentType": "iso"}}]),
        ["spec.dataVolumeTemplates[0].spec.contentType"],
    ),
    "no content type": (
        vm(dataVolumeTemplates=[{"metadata": {"name": "a"}, "spec": {**SOURCE, "contentType": ""}}]),
        [],
    ),
    "spread twice": (vm({"topologySpreadConstraints": [SPREAD, SPREAD]}), [f"{TEMPLATE}.topologySpreadConstraints[1]"]),
    "a long path": (
        vm({"volumes": [{"name": "a", "containerPath": {"path": "/" * 4097}}]}),
        [f"{TEMPLATE}.volumes[0].containerPath.path"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_fields_that_are_rejected(name: str) -> None:
    spec, fields = CASES[name]
    assert [cause.field for cause in causes(spec, NEWEST)] == fields


def test_messages_name_field_and_remedy() -> None:
    [cause] = causes(vm({"volumes": [{"name": "a", "emptyDisk": {}}]}), NEWEST)
    assert cause.message == "capacity is missing; set it"
    clock = {"template": {"spec": {"domain": {"devices": {}, "clock": {"zone": "UTC"}}}}}
    assert [cause.message for cause in causes(clock, NEWEST)] == ["zone is no field of KubeVirt; remove it"]
    [cause] = causes({"template": {"metadata": {"labels": None}}}, NEWEST)
    assert cause.message == "metadata.labels is null; set or remove it"


def test_required_only_in_some_releases() -> None:
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}, "gpus": [{"name": "a"}]}
    result = object_causes("VirtualMachineInstancetypeSpec", spec, release.parse_release("v1.4.0"))
    assert [cause.field for cause in result] == ["spec.gpus[0].deviceName"]
    assert object_causes("VirtualMachineInstancetypeSpec", spec, NEWEST) == []
    new = vm({"volumes": [{"name": "a", "containerPath": {"path": "a"}}]})
    assert len(causes(new, NEWEST)) == 1 and causes(new, release.parse_release("v1.4.0")) == []


def test_instancetypes_and_preferences() -> None:
    result = object_causes("VirtualMachineInstancetypeSpec", {"cpu": {}, "memory": None}, NEWEST)
    assert [cause.field for cause in result] == ["spec.memory", "spec.cpu.guest"]
    result = object_causes("VirtualMachinePreferenceSpec", {"requirements": {"memory": {}}}, NEWEST)
    assert [cause.field for cause in result] == ["spec.requirements.memory.guest"]
