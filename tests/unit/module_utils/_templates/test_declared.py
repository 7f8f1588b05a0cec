"""VirtualMachineTemplates: options to manifest, and what is wrong with one."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._templates.declared import checkable, findings, manifest, warnings

Manifest = dict[str, Any]

NAME = {"name": "NAME", "required": True}
SIZE = {"name": "SIZE", "value": "u1.small"}


def options(*parameters: Manifest, spec: Manifest | None = None, vmi: Manifest | None = None, **more: Any) -> Manifest:
    vm = {
        "metadata": {"name": "${NAME}", "creationTimestamp": None},
        "spec": {"template": {"spec": {"domain": {"devices": {}}, **(vmi or {})}}, **(spec or {})},
    }
    return {
        "name": "linux",
        "namespace": "shop",
        "virtual_machine": vm,
        "parameters": [{"display_name": None, **parameter} for parameter in (NAME, *parameters)],
        **more,
    }


def test_manifest_has_the_declared_fields() -> None:
    result = manifest(options({**SIZE, "display_name": "Size"}, spec={"instancetype": {"name": "${SIZE}"}}))
    assert (result["apiVersion"], result["kind"]) == ("template.kubevirt.io/v1beta1", "VirtualMachineTemplate")
    assert result["metadata"] == {"name": "linux", "namespace": "shop"}
    assert result["spec"]["parameters"] == [NAME, {**SIZE, "displayName": "Size"}]
    assert result["spec"]["virtualMachine"]["metadata"] == {"name": "${NAME}"}
    assert manifest({"name": "linux", "namespace": "shop", "state": "absent"})["metadata"]["name"] == "linux"
    spec = result["spec"]
    assert manifest({"name": "linux", "namespace": "shop", "spec": spec}) == result


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (options({"name": "NAME"}), "parameters[1].name: another parameter is already named 'NAME'"),
        (options(spec={"a": "${B}"}), "spec.virtualMachine: references undefined parameter B; define it in spec.param"),
        (
            options(spec={"tmplate": {}}, parameters=[{"name": "NAME", "value": "x"}]),
            "spec.tmplate: unknown field; did you mean template?",
        ),
        (options(vmi={"volums": []}), "virtual_machine.spec.template.spec.volums: unknown field; did you mean volumes"),
        (options(virtual_machine=None), "virtual_machine: required; set it to the VM's manifest"),
        (options(mesage="x", spec=None, name="A"), "name: 'A' must consist of"),
    ],
)
def test_a_template_that_makes_no_vm_is_refused(wrong: Manifest, words: str) -> None:
    with pytest.raises(FieldError) as refused:
        manifest(wrong)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_template_with_accepted_unknown_fields_is_valid() -> None:
    assert manifest(options(vmi={"newField": 1}, accept_unknown_fields=True))


def test_warnings_and_findings() -> None:
    unused = options(SIZE)
    assert warnings(unused) == ["spec.parameters[1].name: SIZE is defined but never referenced"]
    assert findings(manifest(unused)) == warnings(unused)
    assert warnings(options(SIZE, spec={"instancetype": {"name": "${SIZE}"}})) == []
    default = options(parameters=[{"name": "NAME", "value": "A_B"}])
    assert warnings(default)[0].startswith("a VM with the defaults of the parameters is invalid: virtual_machine.metad")
    broken = {"spec": {"virtualMachine": {"metadata": {"name": "${X}"}}}}
    assert findings(broken)[0].startswith("spec.virtualMachine: references undefined parameter X")


def test_only_resolved_values_are_checked() -> None:
    matchers = {"instancetype": {"name": "${SIZE}"}, "preference": {"name": "${OS}"}}
    source = manifest(options(SIZE, {"name": "OS"}, spec=matchers))
    vm = checkable(source) or {}
    assert vm["spec"] == {"instancetype": {"name": "u1.small"}, "template": {"spec": {"domain": {"devices": {}}}}}
    assert checkable(manifest(options({"name": "SIZE"}, {"name": "OS"}, spec=matchers))) is None
    closed = [{"name": "NAME", "value": "a"}, SIZE, {"name": "OS", "value": "fedora"}]
    vm = checkable(manifest(options(spec={**matchers, "runStrategy": "Halted"}, parameters=closed))) or {}
    assert vm["metadata"] == {"name": "linux", "namespace": "shop"}
    assert (vm["spec"]["preference"], vm["spec"]["runStrategy"]) == ({"name": "fedora"}, "Halted")


def test_template_with_unresolved_vm_is_not_checked() -> None:
    assert checkable({"metadata": {"name": "a"}, "spec": {"virtualMachine": {"spec": {"a": "${B}"}}}}) is None


def test_vms_of_a_template_share_a_disk() -> None:
    source = {"source": {"blank": {}}, "storage": {"resources": {"requests": {"storage": "1Gi"}}}}
    volumes = [
        {"name": "root", "dataVolume": {"name": "root"}},
        {"name": "b", "persistentVolumeClaim": {"claimName": "b"}},
    ]
    interfaces = [{"name": "default", "masquerade": {}, "macAddress": "02:00:00:00:00:01"}]
    domain = {"devices": {"interfaces": interfaces}}
    vmi = {"domain": domain, "networks": [{"name": "default", "pod": {}}], "volumes": volumes}
    templates = [{"metadata": {"name": name}, "spec": source} for name in ("root", "${NAME}-data")]
    spec = {"runStrategy": "Always", "dataVolumeTemplates": templates}
    made, written, address = warnings(options(spec=spec, vmi=vmi))
    remedy = "put a parameter that differs between VMs into it"
    path = "virtual_machine.spec"
    assert made == f"{path}.dataVolumeTemplates[0]: each VM of the template makes the DataVolume root; {remedy}"
    assert written == f"{path}.template.spec.volumes[1]: each VM of the template writes to the disk b; {remedy}"
    assert "macAddress: each VM of the template has the MAC address 02:00:00:00:00:01" in address
