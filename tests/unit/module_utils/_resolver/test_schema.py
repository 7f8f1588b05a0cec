"""The canonical form beyond what the vectors show: errors, and what `declared` keeps."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver import schema


def vm(**domain: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web"}, "spec": {"template": {"spec": {"domain": {"devices": {}, **domain}}}}}


@pytest.mark.parametrize(
    ("domain", "told"),
    [
        ({"cpu": {"cores": "two"}}, "spec.template.spec.domain.cpu.cores: expected a whole number, found 'two'"),
        ({"cpu": {"cores": -1}}, "spec.template.spec.domain.cpu.cores: -1 is not between 0 and 4294967295"),
        ({"cpu": {"cores": True}}, "spec.template.spec.domain.cpu.cores: expected a whole number, found a truth value"),
        ({"cpu": []}, "spec.template.spec.domain.cpu: expected an object, found a list"),
        (
            {"memory": {"guest": "4GB"}},
            "spec.template.spec.domain.memory.guest: '4GB' is no quantity; write for example 512Mi, 4Gi or 4G",
        ),
        (
            {"devices": {"disks": [{"name": "a"}, {"name": "b", "bootOrder": 1.5}]}},
            "spec.template.spec.domain.devices.disks[1].bootOrder: expected a whole number, found 1.5",
        ),
        (
            {"resources": {"requests": {"cpu": "many"}}},
            "spec.template.spec.domain.resources.requests.cpu: 'many' is no quantity;"
            " write for example 512Mi, 4Gi or 4G",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_path(domain: dict[str, Any], told: str) -> None:
    with pytest.raises(schema.FieldError) as error:
        schema.canonical("VirtualMachine", vm(**domain))
    assert str(error.value) == told


def test_declared_adds_nothing_and_keeps_what_it_does_not_know() -> None:
    given = {"spec": {"template": {"spec": {"domain": {"memory": {"guest": "1024Mi"}, "newField": {"a": 1}}}}}}
    before = copy.deepcopy(given)
    assert schema.declared("VirtualMachine", given) == {
        "spec": {"template": {"spec": {"domain": {"memory": {"guest": "1Gi"}, "newField": {"a": 1}}}}}
    }
    assert given == before


def test_declared_leaves_out_what_says_nothing() -> None:
    given = {"metadata": {"labels": {}, "annotations": None}, "spec": {"running": False, "dataVolumeTemplates": []}}
    assert schema.declared("VirtualMachine", given) == {"metadata": {}, "spec": {"running": False}}


def test_canonical_drops_what_it_does_not_know() -> None:
    given = vm(newField={"a": 1})
    assert "newField" not in schema.canonical("VirtualMachine", given)["spec"]["template"]["spec"]["domain"]


def test_canonical_is_a_fixed_point() -> None:
    once = schema.canonical("VirtualMachine", vm(memory={"guest": "0.5Gi"}, features={}, machine={}))
    assert schema.canonical("VirtualMachine", once) == once


def test_a_null_in_a_list_is_the_zero_of_its_type() -> None:
    """As Go reads it: an empty text, an object without fields."""
    given = {"finalizers": [None, "a"], "ownerReferences": [None]}
    canonical = schema.canonical("ObjectMeta", given)
    assert canonical["finalizers"] == ["", "a"]
    assert canonical["ownerReferences"] == [schema.canonical("OwnerReference", {})]


@pytest.mark.parametrize(
    ("value", "told"), [(["a", 1], "[1]: expected text, found 1"), ("a", "expected a list, found 'a'")]
)
def test_a_wrong_entry_of_a_list_is_named_with_its_position(value: Any, told: str) -> None:
    with pytest.raises(schema.FieldError) as error:
        schema.canonical("ObjectMeta", {"finalizers": value})
    assert str(error.value) == f"finalizers{'' if told.startswith('[') else ': '}{told}"


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ({"metadata": {"labels": ["a"]}}, "metadata.labels: expected an object, found a list"),
        ({"metadata": {"labels": {1: "a"}}}, "metadata.labels: expected text as key, found 1"),
        ({"spec": {"domain": {"memory": {"guest": True}}}}, "spec.domain.memory.guest: expected a quantity such as"),
        ({"spec": {"domain": {"memory": {"guest": ["1Gi"]}}}}, "spec.domain.memory.guest: expected a quantity such as"),
    ],
)
def test_values_of_a_wrong_shape_are_told_with_their_path(template: dict[str, Any], told: str) -> None:
    with pytest.raises(schema.FieldError) as error:
        schema.canonical("VirtualMachineInstanceTemplateSpec", template)
    assert str(error.value).startswith(told)
