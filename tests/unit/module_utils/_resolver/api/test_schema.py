"""The canonical form beyond what the vectors show: errors, and what `declared` keeps."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.bug_report import bug_report
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.schema import equal


def vm(**domain: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web"}, "spec": {"template": {"spec": {"domain": {"devices": {}, **domain}}}}}


def test_declared_adds_nothing_and_keeps_unknown_fields() -> None:
    manifest = {"spec": {"template": {"spec": {"domain": {"memory": {"guest": "1024Mi"}, "newField": {"a": 1}}}}}}
    before = copy.deepcopy(manifest)
    assert schema.as_declared("VirtualMachine", manifest) == {
        "spec": {"template": {"spec": {"domain": {"memory": {"guest": "1Gi"}, "newField": {"a": 1}}}}}
    }
    assert manifest == before


def test_declared_drops_empty_fields() -> None:
    manifest = {"metadata": {"labels": {}, "annotations": None}, "spec": {"running": False, "dataVolumeTemplates": []}}
    assert schema.as_declared("VirtualMachine", manifest) == {"metadata": {}, "spec": {"running": False}}


def test_items_of_lists_have_what_the_server_stores() -> None:
    template = {"metadata": {"name": "web-boot"}, "spec": {"sourceRef": {"kind": "DataSource"}, "storage": {}}}
    devices = {"filesystems": [{"name": "a"}]}
    manifest = {"spec": {"dataVolumeTemplates": [template], "template": {"spec": {"domain": {"devices": devices}}}}}
    spec = schema.as_declared("VirtualMachine", manifest)["spec"]
    stored = {"sourceRef": {"kind": "DataSource", "name": ""}, "storage": {"resources": {}}}
    assert spec["dataVolumeTemplates"] == [{"metadata": {"name": "web-boot"}, "spec": stored}]
    # No nulls, and nothing outside lists.
    assert spec["template"] == {"spec": {"domain": {"devices": devices}}}


def test_null_in_a_list_is_the_zero_value() -> None:
    """Go reads an empty text, or an object without fields."""
    manifest = {"finalizers": [None, "a"], "ownerReferences": [None]}
    canonical = schema.canonical("ObjectMeta", manifest)
    assert canonical["finalizers"] == ["", "a"]
    assert canonical["ownerReferences"] == [schema.canonical("OwnerReference", {})]


@pytest.mark.parametrize(
    ("value", "message"), [(["a", 1], "[1]: expected a string, found 1"), ("a", "expected a list, found 'a'")]
)
def test_invalid_list_items_are_reported_with_their_index(value: Any, message: str) -> None:
    with pytest.raises(FieldError) as error:
        schema.canonical("ObjectMeta", {"finalizers": value})
    assert str(error.value) == f"finalizers{'' if message.startswith('[') else ': '}{message}"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ({"metadata": {"labels": ["a"]}}, "metadata.labels: expected an object, found a list"),
        ({"metadata": {"labels": {1: "a"}}}, "metadata.labels: expected a string as key, found 1"),
        ({"spec": {"domain": {"memory": {"guest": True}}}}, "spec.domain.memory.guest: expected a quantity such as"),
        ({"spec": {"domain": {"memory": {"guest": ["1Gi"]}}}}, "spec.domain.memory.guest: expected a quantity such as"),
    ],
)
def test_wrong_types_are_reported_with_their_path(template: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError) as error:
        schema.canonical("VirtualMachineInstanceTemplateSpec", template)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("number", [0, 2**32 - 1])
def test_numbers_at_the_limits_are_valid(number: int) -> None:
    assert schema.canonical("CPUInstancetype", {"guest": number}) == {"guest": number}


@pytest.mark.parametrize("number", [-1, 2**32])
def test_numbers_beyond_the_limits_are_invalid(number: int) -> None:
    with pytest.raises(FieldError) as error:
        schema.canonical("CPUInstancetype", {"guest": number})
    assert str(error.value) == f"guest: {number} is not between 0 and 4294967295"


def test_an_error_without_a_path_is_its_reason() -> None:
    bare = FieldError("", "is odd")
    assert (str(bare), str(bare.with_parent("[1]").with_parent("a").with_parent("b"))) == ("is odd", "b.a[1]: is odd")


# Nobody has foreseen these.


def test_bug_report_of_an_error_without_traceback() -> None:
    assert bug_report(ValueError("secret")).startswith("this is a bug in the collection (ValueError); report")


# Values are the same by the type's meaning, like by KubeVirt's `equality.Semantic`.


SAME = [
    pytest.param("Quantity", "4Gi", "4294967296", id="a quantity by its value"),
    pytest.param("*Quantity", "1", "1000m", id="a pointer to a quantity"),
    pytest.param("Quantity!", "1k", "1000", id="a quantity that must be there"),
    pytest.param(
        "map[string]Quantity", {"cpu": "1", "memory": "1Gi"}, {"memory": "1024Mi", "cpu": "1000m"}, id="a map"
    ),
    pytest.param("[]Quantity", ["1", "2"], ["1000m", "2"], id="a list"),
    pytest.param("[]string", [], None, id="an empty list and none"),
    pytest.param("[]string", None, [], id="no list and an empty one"),
    pytest.param("map[string]string", {}, None, id="an empty map and none"),
    pytest.param("MemoryInstancetype", {"guest": "1Gi"}, {"guest": "1024Mi"}, id="an object by its fields"),
    pytest.param("MemoryInstancetype", {"guest": "1Gi", "maxGuest": None}, {"guest": "1Gi"}, id="no value, no field"),
    pytest.param("string", "a", "a", id="a text"),
    pytest.param("*bool", None, None, id="none and none"),
]
DIFFERENT = [
    pytest.param("Quantity", "4Gi", "4G", id="quantities"),
    pytest.param("string", "1", "1000m", id="texts that would be one quantity"),
    pytest.param("map[string]string", {"cpu": "1"}, {"cpu": "1000m"}, id="a map of texts"),
    pytest.param("map[string]string", {"one": "a"}, {"other": "a"}, id="keys"),
    pytest.param("map[string]string", {"one": "a"}, {"one": "a", "other": "b"}, id="a key more"),
    pytest.param("map[string]string", {"one": "a", "other": "b"}, {"one": "a"}, id="a key less"),
    pytest.param("[]string", ["a", "b"], ["a"], id="an entry less"),
    pytest.param("[]string", ["a", "b"], ["b", "a"], id="the order of a list"),
    pytest.param("[]string", ["a"], None, id="a list and none"),
    pytest.param("NUMA", {}, None, id="an empty object and none"),
    pytest.param("MemoryInstancetype", {"guest": "1Gi"}, {"guest": "1Gi", "maxGuest": "2Gi"}, id="a field more"),
    pytest.param("*bool", False, None, id="false and none"),
]


def both_ways(expression: str, left: Any, right: Any) -> list[bool]:
    return [equal(expression, *pair) for pair in ((left, right), (right, left))]


@pytest.mark.parametrize(("expression", "left", "right"), SAME)
def test_equal_values(expression: str, left: Any, right: Any) -> None:
    assert both_ways(expression, left, right) == [True, True]


@pytest.mark.parametrize(("expression", "left", "right"), DIFFERENT)
def test_different_values(expression: str, left: Any, right: Any) -> None:
    assert both_ways(expression, left, right) == [False, False]
