"""What the schemas of virt-api and of the CustomResourceDefinitions reject, by release."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.admission.schemas import (
    causes,
    object_causes,
)

Spec = dict[str, Any]


def vm(_spec: Spec | None = None, _devices: Spec | None = None, **fields: Any) -> Spec:
    return {**fields, "template": {"spec": {"domain": {"devices": _devices or {}}, **(_spec or {})}}}


SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
SOURCE = {"source": {"blank": {}}, "storage": {}}
TEMPLATE = "spec.template.spec"
CASES: dict[str, tuple[Spec, list[str]]] = {
    "complete": (vm(), []),
    "no template": ({}, ["spec.template"]),
    "no domain": ({"template": {"spec": {}}}, [f"{TEMPLATE}.domain"]),
    "an empty template is one": ({"template": {}}, []),
    "no devices": ({"template": {"spec": {"domain": {"devices": None}}}}, [f"{TEMPLATE}.domain.devices"]),
    "lists": (
        vm({"volumes": [{"name": "a"}, {"containerDisk": {}}]}),
        [f"{TEMPLATE}.volumes[1].name", f"{TEMPLATE}.volumes[1].containerDisk.image"],
    ),
    "a null in a list": (vm({"volumes": [None]}), [f"{TEMPLATE}.volumes[0]"]),
    "an input": (
        vm(_devices={"inputs": [{"bus": "usb"}]}),
        [f"{TEMPLATE}.domain.devices.inputs[0].type", f"{TEMPLATE}.domain.devices.inputs[0].name"],
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


def test_messages_are_those_of_virt_api() -> None:
    [cause] = causes(vm({"volumes": [{"name": "a", "emptyDisk": {}}]}), NEWEST)
    assert cause.message == f"{TEMPLATE}.volumes.emptyDisk.capacity in body is required"
    clock = {"template": {"spec": {"domain": {"devices": {}, "clock": {"zone": "UTC"}}}}}
    assert [cause.message for cause in causes(clock, NEWEST)] == [
        f"{TEMPLATE}.domain.clock.zone in body is a forbidden property"
    ]


def test_required_only_in_some_releases() -> None:
    old, new = release.of("v1.4.0"), NEWEST
    spec = vm(_devices={"gpus": [{"name": "a"}]})
    assert [cause.field for cause in causes(spec, old)] == [f"{TEMPLATE}.domain.devices.gpus[0].deviceName"]
    assert causes(spec, new) == []
    ports = vm(_devices={"interfaces": [{"name": "a", "portRanges": [{}]}]})
    assert len(causes(ports, new)) == 3 and causes(ports, old) == []


def test_instancetypes_and_preferences() -> None:
    found = object_causes("VirtualMachineInstancetypeSpec", {"cpu": {}, "memory": None}, NEWEST)
    assert [cause.field for cause in found] == ["spec.memory", "spec.cpu.guest"]
    found = object_causes("VirtualMachinePreferenceSpec", {"requirements": {"memory": {}}}, NEWEST)
    assert [cause.field for cause in found] == ["spec.requirements.memory.guest"]
