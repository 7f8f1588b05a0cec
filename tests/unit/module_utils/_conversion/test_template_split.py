"""Templates of a VM and other objects become two, each with the parameters that it uses."""

from typing import Any

import pytest

from plugins.module_utils._conversion.template_bundles import ConversionSources, convert
from plugins.module_utils._conversion.template_split import split, vms_of
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._templates import process

Manifest = dict[str, Any]

VM = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "${NAME}"},
    "spec": {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}, "hostname": "h${PASSWORD}"}}},
}
SERVICE = {"kind": "Service", "metadata": {"name": "${NAME}"}, "spec": {"ports": [{"port": "${{PORT}}"}]}}
SECRET = {"kind": "Secret", "stringData": {"password": "${PASSWORD}"}}
NAMES = ("NAME", "PORT", "TEXT", "UNUSED")
PASSWORD = {"name": "PASSWORD", "generate": "expression", "from": "[a-z]{8}"}


def template(*objects: Any, **more: Any) -> Manifest:
    parameters = [*({"name": name, "value": "1"} for name in NAMES), PASSWORD]
    metadata = {"name": "web", "namespace": "shop"}
    return {"kind": "Template", "metadata": metadata, "parameters": parameters, "objects": list(objects), **more}


def names(manifest: Manifest) -> list[str]:
    return [entry["name"] for entry in manifest.get("parameters", ())]


def test_each_part_has_its_parameters() -> None:
    parts = split(template(VM, SERVICE, SECRET, labels={"app": "web"}, message="${TEXT}"))
    assert parts.others is not None
    assert (names(parts.vm), parts.vm["message"]) == (["NAME", "TEXT", "UNUSED", "PASSWORD"], "${TEXT}")
    assert names(parts.others) == ["NAME", "PORT", "PASSWORD"] and "message" not in parts.others
    assert (vms_of(parts.vm), parts.others["objects"]) == ([VM], [SERVICE, SECRET])
    assert parts.others["labels"] == {"app": "web"} and parts.generated == ("PASSWORD",)


def test_a_template_of_one_vm_is_whole() -> None:
    alone = template(VM)
    assert split(alone) == (alone, None, ())
    parts = split(template({"kind": "Service"}, VM, parameters=None))
    assert parts.others is not None and "parameters" not in {**parts.vm, **parts.others}
    with pytest.raises(FieldError, match="objects: has 2 VMs, and a VirtualMachineTemplate one; split the Template"):
        split(template(VM, VM))
    assert vms_of({"objects": None}) == []


def test_others_stay_beside_the_converted_vm() -> None:
    result = convert(template(SECRET, VM, SERVICE), ConversionSources())
    assert not process.validate(result.manifest).errors
    (others,) = result.others
    assert others == split(template(SECRET, VM, SERVICE)).others
    assert {entry.path: entry.note for entry in result.remaining} == {
        "objects": "The others (Secret, Service) stay in a Template beside it.",
        "spec.parameters[PASSWORD]": "Both templates generate a value of their own; give them the same.",
    }
    assert convert(others, ConversionSources()).manifest == others
