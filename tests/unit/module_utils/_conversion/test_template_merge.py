"""Converted templates that become one."""

from typing import Any

import pytest

from plugins.module_utils._conversion.template_merge import merge
from plugins.module_utils._resolver.api.tree import copy, set_at, value_at
from plugins.module_utils._templates.process import process

VM = ("spec", "virtualMachine")
DEVICES = (*VM, "spec", "template", "spec", "domain", "devices")


def template(name: str, size: str = "u1.small", system: str = "fedora", **changes: Any) -> dict[str, Any]:
    """changes: path with `__` for `.` below the VM's spec → value."""
    spec = {
        "instancetype": {"name": size},
        "preference": {"name": system},
        "runStrategy": "Halted",
        "template": {
            "metadata": {"labels": {"app": "${NAME}"}, "annotations": {"vm.kubevirt.io/flavor": name}},
            "spec": {"domain": {"devices": {"disks": [{"name": "root"}]}}, "volumes": []},
        },
    }
    result = {
        "apiVersion": "template.kubevirt.io/v1beta1",
        "kind": "VirtualMachineTemplate",
        "metadata": {"name": name, "labels": {"size": name, "team": "shop"}},
        "spec": {
            "parameters": [{"name": "NAME", "value": "web"}],
            "virtualMachine": {
                "apiVersion": "kubevirt.io/v1",
                "kind": "VirtualMachine",
                "metadata": {"name": "${NAME}", "labels": {"vm.kubevirt.io/template": name}},
                "spec": spec,
            },
        },
    }
    for path, value in changes.items():
        set_at(result, (*VM, "spec", *path.split("__")), value)
    return result


def with_parameter(manifest: dict[str, Any], **parameter: Any) -> dict[str, Any]:
    """The template with a parameter for its instancetype."""
    set_at(manifest, (*VM, "spec", "instancetype", "name"), "${INSTANCETYPE}")
    manifest["spec"]["parameters"].append({"name": "INSTANCETYPE", **parameter})
    return manifest


def bare(vm: dict[str, Any]) -> dict[str, Any]:
    """A VM without labels, annotations and queues."""
    result = copy(vm)
    for place in (result, result["spec"]["template"]):
        place["metadata"] = {"name": (place.get("metadata") or {}).get("name")}
    result["spec"]["template"]["spec"]["domain"]["devices"].pop("networkInterfaceMultiqueue", None)
    return result


def test_each_member_is_a_choice_of_parameters() -> None:
    members = [
        template("web-large", "u1.large", template__spec__domain__devices__networkInterfaceMultiqueue=True),
        template("web-small"),
        template("web-rocky", system="rhel.9"),
    ]
    (merged,) = merge(members)
    assert merged.members == {0: "web-large", 1: "web-small", 2: "web-rocky"}
    assert merged.values == {"INSTANCETYPE": ["u1.large", "u1.small"], "PREFERENCE": ["fedora", "rhel.9"]}
    for member in members:
        own = value_at(member, (*VM, "spec"))
        chosen = {"INSTANCETYPE": own["instancetype"]["name"], "PREFERENCE": own["preference"]["name"]}
        vm = process(merged.template, chosen, "seed").vm
        assert vm is not None and bare(vm) == bare(process(member, {}, "seed").vm or {})
    assert (
        process(merged.template, {}, "seed").vm
        == process(merged.template, {"INSTANCETYPE": "u1.large", "PREFERENCE": "fedora"}, "seed").vm
    )
    assert value_at(merged.template, (*DEVICES, "networkInterfaceMultiqueue")) is True


def test_only_common_labels_and_annotations_remain() -> None:
    (merged,) = merge([template("web-large-x", "u1.large"), template("web-small-x")])
    assert merged.template["metadata"] == {"name": "web-x", "labels": {"team": "shop"}}
    assert value_at(merged.template, (*VM, "metadata", "labels")) == {"vm.kubevirt.io/template": "web-x"}
    assert value_at(merged.template, (*VM, "spec", "template", "metadata")) == {"labels": {"app": "${NAME}"}}


@pytest.mark.parametrize("common", ["web", "small"])
def test_a_taken_name_is_not_given_again(common: str) -> None:
    others = [template(common, runStrategy="Always")] if common == "web" else []
    first, second = ("web-a", "web-b") if common == "web" else ("small", "big")
    (merged,) = merge([template(first, "u1.large"), template(second), *others])
    assert merged.template["metadata"]["name"] == first


def test_two_merged_templates_have_two_names() -> None:
    members = [template("web-a", "u1.large"), template("web-b")]
    others = [template("web-c", "u1.large", runStrategy="Always"), template("web-d", runStrategy="Always")]
    assert [item.template["metadata"]["name"] for item in merge([*members, *others])] == ["web", "web-c"]


def test_defaults_of_a_size_parameter_are_choices() -> None:
    first = with_parameter(template("a"), value="u1.small")
    (merged,) = merge([first, with_parameter(template("b"), value="u1.large"), template("c", "u1.nano")])
    assert merged.values == {"INSTANCETYPE": ["u1.small", "u1.large", "u1.nano"]}
    assert [item["name"] for item in merged.template["spec"]["parameters"]] == ["NAME", "INSTANCETYPE"]
    (same,) = merge([first, with_parameter(template("b"), value="u1.small")])
    assert (same.values, value_at(same.template, (*VM, "spec", "instancetype"))) == ({}, {"name": "u1.small"})


def test_templates_without_a_preference_have_no_parameter_for_it() -> None:
    (merged,) = merge([template("a", "u1.large", preference=None), template("b", preference=None)])
    assert list(merged.values) == ["INSTANCETYPE"]


@pytest.mark.parametrize(
    "other",
    [
        template("b", runStrategy="Always"),
        template("b", "u1.large", instancetype__kind="VirtualMachineInstancetype"),
        template("b", preference=None),
        with_parameter(template("b")),
        with_parameter(template("b"), value=""),
        {"kind": "VirtualMachineTemplate", "metadata": {"name": "b"}, "spec": {"virtualMachine": {"spec": "text"}}},
        {"kind": "VirtualMachineTemplate", "metadata": {"name": "b"}},
        {"kind": "Template", "metadata": {"name": "b"}},
    ],
)
def test_other_templates_stay(other: dict[str, Any]) -> None:
    before = copy(other)
    assert merge([template("a"), other, copy(other)][:2]) == []
    assert other == before
