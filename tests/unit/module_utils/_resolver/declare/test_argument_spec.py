"""Options from the schema: Ansible's validator decides what they take, `to_manifest` gives the API's spelling."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.fields import ENUMS
from plugins.module_utils._resolver.declare import argument_spec
from plugins.module_utils._resolver.declare.argument_spec import expand_shorthand, merge_options
from plugins.module_utils._vm_options import VM_OPTIONS

INSTANCETYPE = "VirtualMachineInstancetypeSpec"
PREFERENCE = "VirtualMachinePreferenceSpec"
SPECS = [INSTANCETYPE, PREFERENCE]


def validate(type_name: str, params: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments of a task as Ansible reads them, and its complaints."""
    spec = argument_spec.options(type_name, required=False)
    result = ArgumentSpecValidator(spec).validate(copy.deepcopy(params))
    return result.validated_parameters, result.error_messages


def reachable(type_name: str) -> Iterator[tuple[str, argument_spec.OptionField]]:
    """Every field below a type, with the type that holds it."""
    for field in argument_spec.fields(type_name):
        yield type_name, field
        inner = field.type.removeprefix("[]")
        if inner in schema.TYPES:
            yield from reachable(inner)


def full(type_name: str, names: str) -> dict[str, Any]:
    """An object of the type in which every field is set; `names` is the spelling: "name" or "option"."""
    return {getattr(field, names): _full(field.type, names) for field in argument_spec.fields(type_name)}


def _full(expression: str, names: str) -> Any:
    if expression.startswith("[]"):
        return [_full(expression[2:], names)]
    if expression in ENUMS:
        return ENUMS[expression][-1]
    if expression in schema.TYPES:
        return full(expression, names)
    if expression.startswith("map["):
        return {"some.Key/camelCase": "value"}
    return {"bool": False, "Quantity": "3Gi", "string": "text"}.get(expression, 5)


@pytest.mark.parametrize("type_name", SPECS)
def test_all_fields_are_accepted_in_both_spellings(type_name: str) -> None:
    spec = full(type_name, "name")
    pasted = {"vm_annotations" if name == "annotations" else name: value for name, value in spec.items()}
    for options in (pasted, full(type_name, "option")):
        params, errors = validate(type_name, options)
        assert errors == []
        assert argument_spec.to_manifest(type_name, params) == spec
    assert schema.canonical(type_name, spec)


@pytest.mark.parametrize(
    ("type_name", "name", "option"),
    [
        ("CPUInstancetype", "dedicatedCPUPlacement", "dedicated_cpu_placement"),
        ("CPUPreferences", "preferredCPUTopology", "preferred_cpu_topology"),
        ("DevicePreferences", "preferredDiskIO", "preferred_disk_io"),
        ("DevicePreferences", "preferredDiskDedicatedIoThread", "preferred_disk_dedicated_io_thread"),
        ("DevicePreferences", "preferredTPM", "preferred_tpm"),
        ("DevicePreferences", "preferredVirtualGPUOptions", "preferred_virtual_gpu_options"),
        ("VGPUDisplayOptions", "ramFB", "ram_fb"),
        (INSTANCETYPE, "ioThreadsPolicy", "io_threads_policy"),
        (INSTANCETYPE, "gpus", "gpus"),
        (PREFERENCE, "preferSpreadSocketToCoreRatio", "prefer_spread_socket_to_core_ratio"),
        (INSTANCETYPE, "annotations", "vm_annotations"),
        (PREFERENCE, "annotations", "vm_annotations"),
    ],
)
def test_option_names(type_name: str, name: str, option: str) -> None:
    assert {field.name: field.option for field in argument_spec.fields(type_name)}[name] == option


@pytest.mark.parametrize("type_name", sorted(schema.TYPES))
def test_fields_of_a_type_have_distinct_options(type_name: str) -> None:
    names = [field.option for field in argument_spec.fields(type_name)]

    assert len(set(names)) == len(names)


def test_annotations_of_vms_have_no_alias() -> None:
    assert "aliases" not in argument_spec.options(INSTANCETYPE)["vm_annotations"]


def test_notes_of_a_field() -> None:
    existing = {field.name: field for field in argument_spec.fields("DevicePreferences")}

    assert existing["preferredVideoType"].since == "1.9"
    assert existing["preferredDiskBus"].since == ""


def test_every_list_of_choices_is_in_use() -> None:
    used = {field.type for type_name in SPECS for _path, field in reachable(type_name)}

    assert set(ENUMS) <= used


def test_only_the_outermost_options_lose_required() -> None:
    strict, relaxed = argument_spec.options(INSTANCETYPE), argument_spec.options(INSTANCETYPE, required=False)

    assert strict["memory"]["required"] is True
    assert "required" not in relaxed["memory"]
    assert relaxed["memory"]["options"]["guest"]["required"] is True


def test_false_and_zero_count_as_set() -> None:
    params = {"cpu": {"guest": 0, "dedicated_cpu_placement": False, "model": ""}}

    assert argument_spec.to_manifest(INSTANCETYPE, params) == {
        "cpu": {"guest": 0, "dedicatedCPUPlacement": False, "model": ""}
    }


def test_other_parameters_of_the_module_are_ignored() -> None:
    params = {"name": "small", "annotations": {"a": "b"}, "state": "present", "scheduler_name": "mine"}

    assert argument_spec.to_manifest(INSTANCETYPE, params) == {"schedulerName": "mine"}


def test_the_result_shares_nothing_with_the_parameters() -> None:
    params = {"node_selector": {"disk": "ssd"}, "gpus": [{"name": "a"}]}
    before = copy.deepcopy(params)

    manifest = argument_spec.to_manifest(INSTANCETYPE, params)
    manifest["nodeSelector"]["disk"] = "hdd"
    manifest["gpus"][0]["name"] = "b"

    assert params == before


# Shorthand, and how an entry goes over its defaults.


CLUSTER = "VirtualMachineClusterInstancetype"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"instancetype": "u1.small"}, {"instancetype": {"name": "u1.small"}}),
        ({"preference": "fedora"}, {"preference": {"name": "fedora"}}),
        ({"boot": "fedora"}, {"boot": {"data_source": "fedora"}}),
        ({"boot": "images/fedora"}, {"boot": {"data_source": "images/fedora"}}),
        ({"instancetype": ""}, {"instancetype": {"name": ""}}),
        ({"instancetype": '{"name": "a"}'}, {"instancetype": '{"name": "a"}'}),
        ({"instancetype": "name=a"}, {"instancetype": "name=a"}),
        ({"instancetype": 5, "boot": None}, {"instancetype": 5, "boot": None}),
        ({"name": "fedora"}, {"name": "fedora"}),
        *(
            ({"instancetype": {"name": "a", "kind": kind}}, {"instancetype": {"name": "a", "kind": CLUSTER}})
            for kind in (CLUSTER, CLUSTER.lower(), f"{CLUSTER.lower()}s", f"{CLUSTER}s", CLUSTER.upper())
        ),
        ({"instancetype": {"kind": "size"}}, {"instancetype": {"kind": "size"}}),
        ({"instancetype": {"kind": 5}}, {"instancetype": {"kind": 5}}),
    ],
)
def test_shorthand(options: dict[str, Any], expected: dict[str, Any]) -> None:
    assert expand_shorthand(options, VM_OPTIONS.spec, VM_OPTIONS.shorthand) == expected


def test_object_kind_is_accepted_in_any_spelling() -> None:
    spec = {"kind": {"choices": ["VirtualMachinePreference", "VirtualMachineClusterPreference"]}}
    assert expand_shorthand({"kind": "virtualmachinepreferences"}, spec, {}) == {"kind": "VirtualMachinePreference"}


@pytest.mark.parametrize(
    ("below", "above", "together"),
    [
        ({"memory": "1Gi"}, {"memory": "2Gi"}, {"memory": "2Gi"}),
        ({"labels": {"a": "1", "b": "2"}}, {"labels": {"b": "3"}}, {"labels": {"a": "1", "b": "3"}}),
        ({"labels": {"a": "1", "b": "2"}}, {"labels": {"b": None}}, {"labels": {"a": "1"}}),
        ({"preference": {"name": "fedora"}}, {"preference": None}, {}),
        ({"volumes": [{"name": "a"}]}, {"volumes": [{"name": "b"}]}, {"volumes": [{"name": "b"}]}),
        ({"instancetype": {"name": "a"}}, {"instancetype": {"infer": "auto"}}, {"instancetype": {"infer": "auto"}}),
        (
            {"instancetype": {"name": "a", "kind": CLUSTER}},
            {"instancetype": {"name": "b"}},
            {"instancetype": {"name": "b", "kind": CLUSTER}},
        ),
        (
            {"instancetype": {"name": "a"}},
            {"instancetype": {"inferFromVolume": "root"}},
            {"instancetype": {"infer_from_volume": "root"}},
        ),
        (
            {"boot": {"data_source": "fedora", "size": "30Gi"}},
            {"boot": {"url": "https://x/y"}},
            {"boot": {"url": "https://x/y", "size": "30Gi"}},
        ),
        ({"cpu": {"sockets": 2}}, {"cpu": {"cores": 2, "sockets": None}}, {"cpu": {"cores": 2}}),
        ({"template": "x"}, {"template": {"spec": {"a": None, "b": 1}}}, {"template": {"spec": {"b": 1}}}),
    ],
)
def test_an_entry_over_its_defaults(below: dict[str, Any], above: dict[str, Any], together: dict[str, Any]) -> None:
    retained = repr(below)
    assert merge_options(below, above, VM_OPTIONS.spec) == together
    assert repr(below) == retained


def test_exclusive_options_of_entry_override_the_top() -> None:
    assert merge_options({"a": 1, "c": 3}, {"b": 2}, {}, [("a", "b")]) == {"b": 2, "c": 3}
    assert merge_options({"a": 1}, {"b": None}, {}, [("a", "b")]) == {"a": 1}
