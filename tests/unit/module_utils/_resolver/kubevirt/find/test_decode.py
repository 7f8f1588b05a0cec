"""Contents of ControllerRevisions, and KubeVirt's messages if they cannot be read."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import matcher
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import INSTANCETYPE
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import parse_release
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
def test_unreadable_data(data: Any, message: str) -> None:
    decoded = decode.decode({"data": data})
    assert decoded.manifest is None
    assert decoded.error is not None
    assert decoded.error.startswith(message)


@pytest.mark.parametrize(
    ("value", "json_type"), [("", None), (None, None), ([], "array"), ({}, "object"), (False, "bool"), (0, "number")]
)
@pytest.mark.parametrize("field", ["kind", "apiVersion"])
def test_kind_or_version_of_wrong_type(field: str, value: Any, json_type: str | None) -> None:
    error = str(decode.decode({"data": {"kind": "Pod", "apiVersion": "v1", field: value}}).error)
    if json_type is None:
        assert error.startswith(f"{FAILED}Object '{'Kind' if field == 'kind' else field}' is missing in ")
    else:
        assert error == (
            f"{FAILED}couldn't get version/kind; json parse error: json: cannot unmarshal {json_type} into Go struct"
            f" field .{field} of type string"
        )


@pytest.mark.parametrize(("data", "json_type"), [([], "array"), ("x", "string"), (True, "bool"), (1.5, "number")])
def test_data_of_wrong_type(data: Any, json_type: str) -> None:
    error = str(decode.decode({"data": data}).error)
    assert f"json: cannot unmarshal {json_type} into Go value of type struct {{ APIVersion string " in error


def test_wrong_type_names_its_field() -> None:
    data = {"apiVersion": matcher.API_VERSION, "kind": "VirtualMachineInstancetype", "spec": {"cpu": {"guest": "two"}}}
    assert str(decode.decode({"data": data}).error).startswith(f"{FAILED}spec.cpu.guest: ")


def test_unreadable_alpha_data() -> None:
    data = {"apiVersion": "instancetype.kubevirt.io/v1alpha2", "kind": "VirtualMachineInstancetype"}
    decoded = decode.decode({"data": {**data, "spec": {"cpu": {"guest": "two"}}}}, parse_release("1.6"))
    assert decoded.manifest is None
    assert "cpu.guest" in str(decoded.error)
    for text in ("", "{"):
        spec = base64.b64encode(text.encode()).decode()
        revision = {"data": {"apiVersion": "instancetype.kubevirt.io/v1alpha1", "spec": spec}}
        assert "unexpected end of JSON input" in str(decode.decode(revision, parse_release("1.2"), INSTANCETYPE).error)
