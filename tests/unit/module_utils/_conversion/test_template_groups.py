"""Templates that are one."""

from typing import Any

import pytest

from plugins.module_utils._conversion.template_groups import groups, is_template


def vm(domain: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    inside = {"devices": {}, "memory": {"guest": "2Gi"}, **(domain or {})}
    return {"kind": "VirtualMachine", "spec": {"template": {"spec": {"domain": inside}}, **spec}}


def template(name: str, *objects: Any, listed: Any = None) -> dict[str, Any]:
    return {"kind": "Template", "metadata": {"name": name}, "objects": listed if listed else list(objects)}


def native(name: str, machine: Any) -> dict[str, Any]:
    return {"kind": "VirtualMachineTemplate", "metadata": {"name": name}, "spec": {"virtualMachine": machine}}


def names(templates: list[dict[str, Any]]) -> list[list[str]]:
    return [[member.name for member in group.members] for group in groups(templates)]


@pytest.mark.parametrize(
    ("domain", "size"),
    [
        ({}, "1 vCPU, 2Gi"),
        ({"cpu": {"sockets": 2, "cores": 3}}, "6 vCPUs, 2Gi"),
        ({"cpu": {"cores": "${CORES}"}, "memory": {"guest": "${MEMORY}"}}, "1 x ${CORES} x 1 vCPUs, ${MEMORY}"),
        ({"memory": None, "resources": {"requests": {"memory": "1024Mi"}}}, "1 vCPU, 1Gi"),
        ({"memory": None}, "1 vCPU, no memory"),
        (
            {"cpu": {"dedicatedCpuPlacement": True}, "ioThreadsPolicy": "shared"},
            "1 vCPU, 2Gi, dedicated CPUs, I/O threads shared",
        ),
        (
            {"devices": {"gpus": [{"deviceName": "nvidia.com/A100", "name": "one"}]}},
            "1 vCPU, 2Gi, GPUs (nvidia.com/A100)",
        ),
    ],
)
def test_sizes_are_what_instancetypes_set(domain: dict[str, Any], size: str) -> None:
    (group,) = groups([template("a", vm()), template("b", vm(domain))])
    assert group.sizes == list(dict.fromkeys(["1 vCPU, 2Gi", size]))


def test_instancetypes_and_preferences_are_sizes_and_systems() -> None:
    named = native("a", vm(instancetype={"name": "u1.small"}, preference={"name": "fedora"}))
    (group,) = groups([named, native("b", {**vm(), "metadata": {"name": "x"}})])
    assert (group.sizes, group.systems, group.multiqueue) == (["u1.small", "1 vCPU, 2Gi"], ["fedora"], False)


def test_other_objects_and_devices_make_a_difference() -> None:
    secret = {"kind": "Secret", "metadata": {"name": "login"}}
    assert names(
        [
            template("a", vm()),
            template("b", vm(), secret),
            template("c", vm({"devices": {"rng": {}}})),
            template("d", secret, vm()),
            template("e", vm({"devices": {"blockMultiQueue": True}})),
        ]
    ) == [["a", "e"], ["b", "d"], ["c"]]


def test_templates_without_one_vm_are_left_out() -> None:
    odd = vm({"devices": {"gpus": ["odd"]}})
    bare = {"kind": "VirtualMachine", "spec": {"template": {"spec": {}}}}
    others = [template("a", vm(), vm()), template("b"), template("c", listed="odd"), template("d", bare, "odd")]
    assert names([*others, native("e", None), native("f", odd)]) == []


def test_both_kinds_are_templates() -> None:
    assert is_template(template("a")) and is_template(native("b", vm())) and not is_template(vm())
