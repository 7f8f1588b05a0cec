"""Records of the instancetype and the preference whose values a VM declares."""

import json

import pytest
from sized_vms import big, named, with_values

from plugins.module_utils._resolver.api import records
from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE, ObjectKey, references


def annotated(**annotations: str) -> Manifest:
    own = {f"instancetypes.virtshape.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {"metadata": {"name": "db", "namespace": "shop", "annotations": own}, "spec": {"template": {}}}


def test_expanded_vm_refers_to_its_objects() -> None:
    keys = [
        ObjectKey("VirtualMachineInstancetype", "shop", "big"),
        ObjectKey("VirtualMachinePreference", "shop", "linux"),
    ]
    assert references(with_values(named())) == keys == references(named())


def test_record_is_read_as_a_revision() -> None:
    vm = with_values(named())
    revision = records.revision_of(vm, INSTANCETYPE) or {}
    assert revision["data"]["spec"] == big()["spec"]
    assert records.is_expanded(vm) and records.was_expanded(vm)
    assert records.of_revisions(vm, {INSTANCETYPE: {}, PREFERENCE: None}) == {}


def test_name_counts_more_than_a_record() -> None:
    vm = with_values(named())
    vm["spec"]["instancetype"] = {"name": "other"}
    assert INSTANCETYPE.recorded_in(vm) is None
    assert INSTANCETYPE.named_in(vm) == {"name": "other"}
    assert records.revision_of(vm, INSTANCETYPE) is None
    assert records.of_revisions(vm, {INSTANCETYPE: {}}) == {INSTANCETYPE: {}}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", "{}", json.dumps({"kind": "Pod", "metadata": {"name": "x"}}), '{"metadata": []}']
)
def test_unreadable_record_is_no_object(text: str) -> None:
    vm = annotated(instancetype=text)
    assert INSTANCETYPE.recorded_in(vm) == {}
    assert INSTANCETYPE.named_in(vm) == {}
    assert records.revision_of(vm, INSTANCETYPE) == {"data": None}
    assert references(vm) == []


@pytest.mark.parametrize("text", ["{", "[1]", "1", "[null]", "[]", '[""]'])
def test_unreadable_fields_are_none(text: str) -> None:
    assert records.expanded_fields(annotated(expanded_fields=text)) == []


def test_pointers_escape_as_json_pointers_do() -> None:
    vm = annotated(expanded_fields='["/template/metadata/annotations/a~1b~0c"]')
    assert records.expanded_fields(vm) == [("template", "metadata", "annotations", "a/b~c")]
    assert records.was_expanded(vm) and not records.is_expanded(vm)
    assert not records.was_expanded(None)
