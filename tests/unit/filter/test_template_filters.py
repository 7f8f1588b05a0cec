"""The filters for VirtualMachineTemplates, as a playbook calls them."""

import datetime
import re
from copy import deepcopy
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

SECRET = "s3cret-of-the-test"


def call(name: str, value: Any, *arguments: Any, **options: Any) -> Any:
    return FILTERS[f"template_{name}"](value, *arguments, **options)


def template(*parameters: dict[str, Any], message: str = "", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "template.kubevirt.io/v1beta1",
        "kind": "VirtualMachineTemplate",
        "metadata": {"name": "rhel9"},
        "spec": {
            "parameters": list(parameters),
            "message": message,
            "virtualMachine": {"metadata": {"name": "${NAME}"}, "spec": {"runStrategy": "Always", **spec}},
        },
    }


NAME = {"name": "NAME", "required": True}
WORD = {"name": "WORD", "generate": "expression", "from": "[a-z]{12}"}
GUEST = {"template": {"spec": {"domain": {"cpu": {"cores": "${{CORES}}"}, "memory": {"guest": "1024Mi"}}}}}
VM = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web1", "namespace": "shop", "uid": "u", "labels": {"app": "web"}},
    "status": {"ready": True},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "u1.medium", "revisionName": "web1-u1.medium-1"},
        "preference": {"name": "fedora", "kind": "VirtualMachinePreference"},
        "dataVolumeTemplates": [
            {
                "metadata": {"name": "web1-root", "uid": "u"},
                "spec": {"storage": {}, "sourceRef": {"kind": "DataSource", "name": "fedora"}},
            }
        ],
        "template": {
            "metadata": {"labels": {"name": "web1", "os": "linux"}, "creationTimestamp": None},
            "spec": {
                "hostname": "web1",
                "domain": {
                    "firmware": {"uuid": "a", "serial": "b", "bootloader": {"bios": {}}},
                    "devices": {"interfaces": [{"name": "net", "masquerade": {}, "macAddress": "02:00:00:00:00:01"}]},
                },
                "networks": [{"name": "net", "pod": {}}],
                "volumes": [
                    {"name": "root", "dataVolume": {"name": "web1-root"}},
                    {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                    {"name": "init", "cloudInitNoCloud": {"userData": "#!/bin/sh\necho ${HOME} ${DOLLAR} ${{X}} $1"}},
                    {"name": "dump", "memoryDump": {"claimName": "dump"}},
                ],
            },
        },
    },
}


def test_values_of_yaml_become_texts_and_json() -> None:
    manifest = template(NAME, {"name": "CORES", "value": "1"}, WORD, message="${NAME}: ${WORD}", **GUEST)
    result = call("process", manifest, {"NAME": 5, "CORES": 4})
    vm = result["virtual_machine"]
    assert (vm["kind"], vm["metadata"]["name"]) == ("VirtualMachine", "5")
    assert vm["spec"]["template"]["spec"]["domain"] == {"cpu": {"cores": 4}, "memory": {"guest": "1Gi"}}
    assert re.fullmatch("[a-z]{12}", result["generated"]["WORD"])
    assert result["message"] == f"5: {result['generated']['WORD']}"
    assert result["warnings"] == []


def test_null_parameter_counts_as_missing() -> None:
    manifest = template({**NAME, "value": "a"}, WORD, message="${WORD}")
    with pytest.raises(AnsibleFilterError, match="parameter 'NAME' is required"):
        call("process", manifest, {"NAME": None})


def test_generated_values_are_random_without_a_seed() -> None:
    manifest = template(NAME, WORD, message="${WORD}")

    def word(**options: Any) -> str:
        return str(call("process", manifest, {"NAME": "a"}, **options)["generated"]["WORD"])

    assert word() != word()
    assert word(seed="web1") == word(seed="web1") != word(seed="web2")


@pytest.mark.parametrize(
    ("manifest", "parameters", "message"),
    [
        (template(NAME), {"NAM": "a"}, "rhel9: parameter NAM not found in template; did you mean NAME?"),
        (
            template(),
            {},
            "rhel9: spec.virtualMachine: references undefined parameter NAME; define it in spec.parameters, or write"
            " ${DOLLAR}{NAME} with a parameter DOLLAR of the value $ if the guest shall read it",
        ),
        (
            template(NAME),
            {},
            "rhel9: spec.parameters[0].value: parameter 'NAME' is required; give it in parameters",
        ),
        (template(NAME, NAME), {"NAME": "a"}, "rhel9: spec.parameters[1].name: NAME is there twice"),
        (
            template(NAME, instancetype={"nam": "a"}),
            {"NAME": "a"},
            "rhel9: spec.virtualMachine.spec.instancetype.nam: unknown field; did you mean name?",
        ),
        (
            template(NAME, template={"spec": {"domain": {"cpuu": {}}}}),
            {"NAME": "a"},
            "rhel9: spec.template.spec.domain.cpuu: unknown field; did you mean cpu? Otherwise set",
        ),
        (template(NAME), {"NAME": ["a"]}, "parameters.NAME: expected a string; write JSON, with to_json"),
        (template(NAME), ["a"], "parameters: expected values by name, found ['a']"),
        (template({**NAME, "value": 5}), {}, "rhel9: spec.parameters[0].value: expected a string, found 5"),
        (
            template(NAME, template={"metadata": {"labels": {"built": datetime.date(2026, 1, 1)}}}),
            {},
            "spec.virtualMachine.spec.template.metadata.labels.built: expected a string or a number, found",
        ),
        ("text", {}, "expected the manifest of a VirtualMachineTemplate, found 'text'; read YAML with from_yaml"),
        ({"kind": "Template"}, {}, "kind: expected VirtualMachineTemplate, found 'Template'"),
        ({"kind": "VirtualMachineTemplate"}, {}, "VirtualMachineTemplate: spec.virtualMachine: required; set it"),
    ],
)
def test_errors_name_the_problem_and_the_remedy(manifest: Any, parameters: Any, message: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        call("process", manifest, parameters)
    assert str(error.value).startswith(f"template_process: {message}")


def test_secrets_are_in_no_message() -> None:
    init = {"template": {"spec": {"volumes": [{"name": 5, "cloudInitNoCloud": {"userData": SECRET}}]}}}
    for manifest in (template(NAME, **init), template(NAME, {"name": "P", "value": SECRET}, WORD, WORD)):
        with pytest.raises(AnsibleFilterError) as error:
            call("process", manifest, {"NAME": SECRET})
        assert SECRET not in str(error.value)


def test_accepted_unknown_field_is_kept() -> None:
    manifest = template(NAME, template={"spec": {"domain": {"cpuu": {"a": 1}}}})
    result = call("process", manifest, {"NAME": "a"}, accept_unknown_fields=True)
    assert result["virtual_machine"]["spec"]["template"]["spec"]["domain"]["cpuu"] == {"a": 1}


def openshift(*objects: Any, **fields: Any) -> dict[str, Any]:
    return {"kind": "Template", "metadata": {"name": "t"}, "objects": list(objects), **fields}


def test_openshift_template_is_converted_with_its_labels() -> None:
    vm = {"metadata": {"name": "${NAME}"}, "spec": {"runStrategy": "Halted"}}
    manifest = openshift(vm, labels={"app": "shop"}, parameters=[NAME])
    result = call("convert", manifest)
    assert result["spec"]["virtualMachine"]["metadata"]["labels"] == {"app": "shop"}
    assert call("process", result, {"NAME": "a"})["virtual_machine"]["metadata"]["name"] == "a"


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (openshift(), "t: template must contain exactly one object, found 0"),
        (openshift({"metadata": {"name": "${NAME}"}}), "t: spec.virtualMachine: references undefined parameter NAME"),
        (openshift({"spec": []}), "t: spec.virtualMachine.spec: expected an object, found a list"),
        (openshift("x"), "t: spec.virtualMachine: expected the VM's manifest"),
        ({"kind": "VirtualMachine"}, "kind: expected Template, found 'VirtualMachine'"),
    ],
)
def test_templates_refused_by_kubevirt_are_not_converted(manifest: Any, message: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        call("convert", manifest)
    assert str(error.value).startswith(f"template_convert: {message}")


def test_template_from_vm_keeps_instancetype_and_preference() -> None:
    before = deepcopy(VM)
    result = call("from_vm", VM)
    assert before == VM
    assert result["metadata"] == {"name": "web1", "namespace": "shop"}
    assert {entry["name"]: entry.get("value") for entry in result["spec"]["parameters"]} == {
        "NAME": None,
        "INSTANCETYPE": "u1.medium",
        "PREFERENCE": "fedora",
        "DOLLAR_": "$",
    }
    vm = call("process", result, {"NAME": "web2", "INSTANCETYPE": "u1.large"})["virtual_machine"]
    assert vm["metadata"] == {"name": "web2"}
    spec, guest = vm["spec"], vm["spec"]["template"]["spec"]
    assert spec["instancetype"] == {"name": "u1.large"}
    assert spec["preference"] == {"name": "fedora", "kind": "VirtualMachinePreference"}
    assert spec["template"]["metadata"] == {"labels": {"name": "web2", "os": "linux"}}
    assert guest["hostname"] == "web2"
    assert guest["domain"]["firmware"] == {"bootloader": {"bios": {}}}
    assert guest["domain"]["devices"]["interfaces"] == [{"name": "net", "masquerade": {}}]
    assert guest["volumes"] == [
        {"name": "root", "dataVolume": {"name": "web2-root"}},
        {"name": "data", "dataVolume": {"name": "data-web2"}},
        VM["spec"]["template"]["spec"]["volumes"][2],  # type: ignore[index]
    ]
    assert spec["dataVolumeTemplates"] == [
        {
            "metadata": {"name": "web2-root"},
            "spec": {"storage": {"resources": {}}, "sourceRef": {"kind": "DataSource", "name": "fedora"}},
        },
        {
            "metadata": {"name": "data-web2"},
            "spec": {"source": {"pvc": {"name": "data", "namespace": "shop"}}, "storage": {"resources": {}}},
        },
    ]


def test_minimal_vm_gives_a_minimal_template() -> None:
    guest = {"spec": {"domain": {"devices": {}}}}
    result = call("from_vm", {"metadata": {"name": "a"}, "spec": {"runStrategy": "Halted", "template": guest}})
    assert [entry["name"] for entry in result["spec"]["parameters"]] == ["NAME"]
    assert result["spec"]["virtualMachine"]["spec"]["runStrategy"] == "Halted"
    with pytest.raises(AnsibleFilterError, match=r"^template_from_vm: a: spec.template.spec: is missing"):
        call("from_vm", {"metadata": {"name": "a"}, "spec": {}})


def test_template_keeps_inference_and_omits_empty_data_volumes() -> None:
    guest = {"spec": {"domain": {"devices": {}}, "volumes": [{"name": "d", "memoryDump": {"claimName": "d"}}]}}
    spec = {"runStrategy": "Halted", "instancetype": {"inferFromVolume": "root"}, "template": guest}
    result = call("from_vm", {"metadata": {"name": "a"}, "spec": spec})["spec"]["virtualMachine"]["spec"]
    assert result["instancetype"] == {"inferFromVolume": "root"}
    assert "dataVolumeTemplates" not in result
    assert "volumes" not in result["template"]["spec"]
