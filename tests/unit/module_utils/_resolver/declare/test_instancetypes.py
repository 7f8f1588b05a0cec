"""Manifests of instancetypes and preferences from the modules' options."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.declare import instancetypes as manifests

SIZE: dict[str, Any] = {"cpu": {"guest": 2}, "memory": {"guest": "1024Mi"}}
API = "instancetype.kubevirt.io/v1beta1"


@pytest.mark.parametrize(
    ("place", "kind", "metadata"),
    [
        ({}, "VirtualMachineClusterInstancetype", {"name": "a"}),
        ({"namespace": "shop"}, "VirtualMachineInstancetype", {"name": "a", "namespace": "shop"}),
        (
            {"namespace": "shop", "kind": "VirtualMachineInstancetype"},
            "VirtualMachineInstancetype",
            {"name": "a", "namespace": "shop"},
        ),
        ({"kind": "VirtualMachineClusterInstancetype"}, "VirtualMachineClusterInstancetype", {"name": "a"}),
    ],
)
def test_namespace_decides_the_kind(place: dict[str, str], kind: str, metadata: dict[str, str]) -> None:
    assert manifests.instancetype({"name": "a", **place, **SIZE}) == {
        "apiVersion": API,
        "kind": kind,
        "metadata": metadata,
        "spec": {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}},
    }


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (manifests.instancetype, "VirtualMachineClusterInstancetype"),
        (manifests.preference, "VirtualMachineClusterPreference"),
    ],
)
def test_a_cluster_wide_kind_has_no_namespace(make: Any, kind: str) -> None:
    with pytest.raises(FieldError) as error:
        make({"name": "a", "namespace": "shop", "kind": kind})
    namespaced = kind.replace("Cluster", "")
    assert str(error.value) == (f"namespace: {kind} is cluster-wide; remove namespace, or set kind to {namespaced}")


def test_an_absent_instancetype_needs_no_size() -> None:
    assert manifests.instancetype({"name": "a", "state": "absent"})["metadata"] == {"name": "a"}
    for options, result in (
        ({}, "spec.cpu.guest: required in an instancetype, for example 2"),
        ({"cpu": {"guest": 1}}, "spec.memory.guest: required in an instancetype, for example 4Gi"),
        ({**SIZE, "cpu": {"guest": 0}}, "spec.cpu.guest: 0 is too small; write 1 or more"),
    ):
        with pytest.raises(FieldError) as error:
            manifests.instancetype({"name": "a", "state": "present", **options})
        assert str(error.value) == result


def test_spec_is_merged_and_annotations_are_the_objects() -> None:
    manifest = manifests.preference(
        {
            "name": "p",
            "labels": {"team": "a"},
            "annotations": {"note": "x"},
            "devices": {"preferredDiskBus": "virtio"},
            "spec": {"annotations": {"of": "vms"}},
        }
    )
    assert manifest["metadata"] == {"name": "p", "labels": {"team": "a"}, "annotations": {"note": "x"}}
    assert manifest["spec"]["annotations"] == {"of": "vms"}


def test_state_options_become_labels_and_annotations() -> None:
    options = {"name": "a", "labels": {"team": "a"}, **SIZE}
    state = {"deprecated": {"replacement": "b", "obsolete_from": None}, "obsolete": None}
    assert manifests.instancetype({**options, **state})["metadata"] == {
        "name": "a",
        "labels": {
            "team": "a",
            "instancetype.kubevirt.io/deprecated": "true",
            "instancetypes.virtshape.io/state": "deprecated",
        },
        "annotations": {"instancetypes.virtshape.io/replacement": "b"},
    }
    assert manifests.instancetype({**options, "deprecated": None, "obsolete": None})["metadata"] == {
        "name": "a",
        "labels": {"team": "a"},
    }


@pytest.mark.parametrize("field", ["gpus", "hostDevices"])
@pytest.mark.parametrize("device", [{"name": "a"}, {"deviceName": "x"}, {"name": "", "deviceName": "x"}])
def test_a_device_has_two_names(field: str, device: dict[str, str]) -> None:
    missing = "deviceName" if device.get("name") else "name"
    complete = {"name": "ok", "deviceName": "x"}
    with pytest.raises(FieldError) as error:
        manifests.instancetype({"name": "a", **SIZE, "spec": {field: [complete, device]}})
    assert str(error.value) == f"spec.{field}[1].{missing}: required for a device"
