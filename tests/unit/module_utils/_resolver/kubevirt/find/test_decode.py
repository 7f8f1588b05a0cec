"""What a ControllerRevision holds, and KubeVirt's messages where it cannot be read."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import matcher
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import INSTANCETYPE
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import of
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find import decode

FAILED = "failed to decode object in ControllerRevision: "


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], f"{FAILED}couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of"),
        (True, f"{FAILED}couldn't get version/kind; json parse error: json: cannot unmarshal bool into Go value of"),
        ({"kind": 1}, f"{FAILED}couldn't get version/kind; json parse error: json: cannot unmarshal number into Go"),
        ({"kind": "X", "apiVersion": "a/b/c"}, f"{FAILED}unexpected GroupVersion string: a/b/c"),
        ({"kind": "X", "apiVersion": "a/"}, f"{FAILED}Object 'apiVersion' is missing in '"),
        ({}, f"{FAILED}Object 'Kind' is missing in '{{}}'"),
        ({"z": "<&>", "a": "ü"}, f'{FAILED}Object \'Kind\' is missing in \'{{"a":"ü","z":"\\u003c\\u0026\\u003e"}}\''),
        ({"kind": "Pod", "apiVersion": "v1"}, f'{FAILED}no kind "Pod" is registered for version "v1" in scheme "'),
        (
            {"kind": "VirtualMachineInstanceList", "apiVersion": "kubevirt.io/v1alpha3"},
            "unexpected type in ControllerRevision: *v1.VirtualMachineInstanceList",
        ),
    ],
)
def test_what_cannot_be_read(data: Any, message: str) -> None:
    decoded = decode.decode({"data": data})
    assert decoded.manifest is None
    assert decoded.error is not None
    assert decoded.error.startswith(message)


@pytest.mark.parametrize(
    ("value", "found"), [("", None), (None, None), ([], "array"), ({}, "object"), (False, "bool"), (0, "number")]
)
@pytest.mark.parametrize("field", ["kind", "apiVersion"])
def test_a_kind_or_version_that_is_no_text(field: str, value: Any, found: str | None) -> None:
    told = str(decode.decode({"data": {"kind": "Pod", "apiVersion": "v1", field: value}}).error)
    if found is None:
        assert told.startswith(f"{FAILED}Object '{'Kind' if field == 'kind' else field}' is missing in ")
    else:
        assert told == (
            f"{FAILED}couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go struct field"
            f" .{field} of type string"
        )


@pytest.mark.parametrize(("data", "found"), [([], "array"), ("x", "string"), (True, "bool"), (1.5, "number")])
def test_data_that_is_no_object(data: Any, found: str) -> None:
    told = str(decode.decode({"data": data}).error)
    assert f"json: cannot unmarshal {found} into Go value of type struct {{ APIVersion string " in told


def test_an_empty_revision_is_no_error_until_its_spec_is_wanted() -> None:
    assert decode.decode({}) == decode.Decoded()
    assert decode.spec({}, INSTANCETYPE).error == "unexpected type in ControllerRevision: <nil>"


def test_a_bad_value_that_is_no_quantity_names_its_field() -> None:
    data = {"apiVersion": matcher.API_VERSION, "kind": "VirtualMachineInstancetype", "spec": {"cpu": {"guest": "two"}}}
    assert str(decode.decode({"data": data}).error).startswith(f"{FAILED}spec.cpu.guest: ")


def test_what_is_read_is_a_copy() -> None:
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    data = {"apiVersion": matcher.API_VERSION, "kind": "VirtualMachineInstancetype", "spec": spec}
    decoded = decode.spec({"data": data}, INSTANCETYPE)
    assert decoded.spec == spec
    decoded.spec["cpu"]["guest"] = 9
    assert spec["cpu"] == {"guest": 1}


def test_old_data_that_cannot_be_read() -> None:
    old = {"apiVersion": "instancetype.kubevirt.io/v1alpha2", "kind": "VirtualMachineInstancetype"}
    wrong = decode.decode({"data": {**old, "spec": {"cpu": {"guest": "two"}}}}, of("1.6"))
    assert wrong.manifest is None
    assert "cpu.guest" in str(wrong.error)
    for text in ("", "{"):
        spec = base64.b64encode(text.encode()).decode()
        kept = {"data": {"apiVersion": "instancetype.kubevirt.io/v1alpha1", "spec": spec}}
        assert "unexpected end of JSON input" in str(decode.decode(kept, of("1.2"), INSTANCETYPE).error)


@pytest.mark.parametrize(
    ("spec", "found"), [("x", "string"), ([], "array"), (True, "bool"), (5, "number"), (1.5, "number")]
)
def test_an_old_object_whose_spec_is_none(spec: Any, found: str) -> None:
    old = {"apiVersion": "instancetype.kubevirt.io/v1alpha2", "kind": "VirtualMachineClusterPreference", "spec": spec}
    assert str(decode.decode({"data": old}, of("1.6")).error).endswith(
        f"json: cannot unmarshal {found} into Go struct field VirtualMachineClusterPreference.spec of type"
        " v1alpha2.VirtualMachinePreferenceSpec"
    )


def test_an_old_spec_that_was_kept_alone_has_a_name_of_kubevirts_making() -> None:
    text = base64.b64encode(b'{"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}').decode()
    kept = {"data": {"apiVersion": "instancetype.kubevirt.io/v1alpha1", "spec": text}}
    for version in ("1.2", "1.5"):
        decoded = decode.decode(kept, of(version), INSTANCETYPE)
        assert decoded.manifest is not None
        assert decoded.manifest["apiVersion"] == matcher.API_VERSION
        assert decoded.manifest["metadata"]["name"] == "old-version-of-instancetype-object"
