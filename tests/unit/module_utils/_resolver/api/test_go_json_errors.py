"""Go's words for JSON of a wrong shape; the texts with numbers and strings were recorded from virt-api."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.go_json import type_error

GO = "json: cannot unmarshal"
QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def instancetype(**spec: Any) -> str | None:
    return type_error("VirtualMachineInstancetype", {"spec": spec}, "VirtualMachineClusterInstancetype")


def preference(**spec: Any) -> str | None:
    return type_error("VirtualMachinePreference", {"spec": spec})


@pytest.mark.parametrize("guest", [-1, 4294967296])
def test_numbers_out_of_range(guest: int) -> None:
    expected = f"{GO} number {guest} into Go struct field CPUInstancetype.spec.cpu.guest of type uint32"
    assert instancetype(cpu={"guest": guest}) == expected


def test_the_struct_is_the_innermost_one() -> None:
    assert preference(cpu={"spreadOptions": {"ratio": -1}}) == (
        f"{GO} number -1 into Go struct field SpreadOptions.spec.cpu.spreadOptions.ratio of type uint32"
    )
    assert preference(preferSpreadSocketToCoreRatio=-2) == (
        f"{GO} number -2 into Go struct field"
        " VirtualMachinePreferenceSpec.spec.preferSpreadSocketToCoreRatio of type uint32"
    )


def virtual_machine(**spec: Any) -> str | None:
    return type_error("VirtualMachine", {"spec": {"running": 1, "template": {"spec": spec}}})


def test_custom_unmarshal_reports_the_containing_struct() -> None:
    """Recorded of a VM's cores; all that is noted before does not count then."""
    assert virtual_machine(domain={"cpu": {"cores": -1}}) == (
        f"{GO} number -1 into Go struct field"
        " VirtualMachineInstanceTemplateSpec.spec.template.spec.domain.cpu.cores of type uint32"
    )
    assert virtual_machine(networks=[{"pod": {"vmNetworkCIDR": 1}}]) == (
        f"{GO} number into Go struct field"
        " VirtualMachineInstanceTemplateSpec.spec.template.spec.networks.NetworkSource.pod.vmNetworkCIDR of"
        " type string"
    )
    assert virtual_machine(domain={"memory": {"guest": "much"}}) == QUANTITY
    assert virtual_machine() == f"{GO} number into Go struct field VirtualMachineSpec.spec.running of type bool"


def test_error_names_the_kind_of_the_root() -> None:
    expected = f"{GO} array into Go struct field VirtualMachineClusterInstancetype.spec of type"
    error = type_error("VirtualMachineInstancetype", {"spec": []}, "VirtualMachineClusterInstancetype")
    assert error == f"{expected} v1beta1.VirtualMachineInstancetypeSpec"
    assert (
        type_error("VirtualMachineInstancetype", [])
        == f"{GO} array into Go value of type v1beta1.VirtualMachineInstancetype"
    )


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"gpus": ["x"]}, "string into Go struct field VirtualMachineInstancetypeSpec.spec.gpus of type v1.GPU"),
        ({"gpus": {}}, "object into Go struct field VirtualMachineInstancetypeSpec.spec.gpus of type []v1.GPU"),
        ({"gpus": [{"name": 1}]}, "number into Go struct field GPU.spec.gpus.name of type string"),
        (
            {"nodeSelector": {"a": True}},
            "bool into Go struct field VirtualMachineInstancetypeSpec.spec.nodeSelector of type string",
        ),
        (
            {"annotations": "a"},
            "string into Go struct field VirtualMachineInstancetypeSpec.spec.annotations of type map[string]string",
        ),
        (
            {"ioThreadsPolicy": 1},
            "number into Go struct field VirtualMachineInstancetypeSpec.spec.ioThreadsPolicy"
            " of type v1.IOThreadsPolicy",
        ),
        (
            {"cpu": {"isolateEmulatorThread": "yes"}},
            "string into Go struct field CPUInstancetype.spec.cpu.isolateEmulatorThread of type bool",
        ),
    ],
)
def test_types_are_named_as_go_prints_them(spec: dict[str, Any], expected: str) -> None:
    assert instancetype(**spec) == f"{GO} {expected}"


def test_first_error_counts_unless_quantity_stops_reading() -> None:
    assert instancetype(schedulerName=1, cpu={"guest": "1"}) == (
        f"{GO} number into Go struct field VirtualMachineInstancetypeSpec.spec.schedulerName of type string"
    )
    assert instancetype(schedulerName=1, memory={"guest": "x"}) == QUANTITY


@pytest.mark.parametrize("guest", [{}, [], True, "", " "])
def test_a_quantity_is_no_other_json(guest: Any) -> None:
    assert instancetype(memory={"guest": guest}) == QUANTITY


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        ("CPUInstancetype", {"guest": 0, "isolateEmulatorThread": True, "dedicatedCPUPlacement": False}),
        ("CPUInstancetype", {"guest": 2**32 - 1, "maxSockets": 2**32 - 1}),
        ("MemoryInstancetype", {"guest": "0", "overcommitPercent": -(2**63)}),
        ("MemoryInstancetype", {"guest": 0.5, "overcommitPercent": 2**63 - 1}),
        ("ObjectMeta", {"creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"a": None}}),
        ("ResourceRequirements", {"limits": {"cpu": 1, "memory": "1Gi"}}),
    ],
)
def test_accepted_values_have_no_error(type_name: str, value: Any) -> None:
    assert type_error(type_name, value) is None


@pytest.mark.parametrize(
    ("type_name", "value", "expected"),
    [
        ("ObjectMeta", {"creationTimestamp": 5}, ("number", "ObjectMeta.creationTimestamp", "string")),
        ("ObjectMeta", {"labels": []}, ("array", "ObjectMeta.labels", "map[string]string")),
        ("ResourceRequirements", {"limits": []}, ("array", "ResourceRequirements.limits", "v1.ResourceList")),
        ("TCPSocketAction", {"port": True}, ("bool", "TCPSocketAction.port", "int32")),
        (
            "Volume",
            {"persistentVolumeClaim": {"claimName": 1}},
            (
                "number",
                "PersistentVolumeClaimVolumeSource.VolumeSource.persistentVolumeClaim.PersistentVolumeClaimVolumeSource"
                ".claimName",
                "string",
            ),
        ),
        ("CPUInstancetype", {"guest": 1.5}, ("number 1.5", "CPUInstancetype.guest", "uint32")),
    ],
)
def test_rejected_values_have_the_error_of_go(type_name: str, value: Any, expected: tuple[str, str, str]) -> None:
    json_type, field, go_type = expected
    assert type_error(type_name, value) == f"{GO} {json_type} into Go struct field {field} of type {go_type}"


def test_valid_spec_has_no_error() -> None:
    assert instancetype(cpu={"guest": 1}, memory={"guest": 1024}, schedulerName=None, unknown=[]) is None


def test_a_port_is_a_number_or_a_name() -> None:
    def probed(port: Any) -> str | None:
        template = {"spec": {"readinessProbe": {"httpGet": {"port": port}}}}
        return type_error("VirtualMachine", {"spec": {"template": template}})

    assert [probed(port) for port in (80, "http")] == [None, None]
    for port, kind in ((True, "bool"), ([], "array")):
        assert (probed(port) or "").startswith(f"{GO} {kind} into Go ")
