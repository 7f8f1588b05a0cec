"""virtual_machine with a template that `modernize` converted: users choose the instancetype instead of the size."""

from typing import Any

import pytest

from modules_support import Task, objects
from plugins.module_utils._conversion.template_bundles import ConversionSources, convert
from plugins.module_utils._resolver.api.release import NEWEST

pytestmark = pytest.mark.needs("templates")


def openshift_template(namespace: str) -> dict[str, Any]:
    domain = {
        "cpu": {"sockets": "${{SOCKETS}}", "cores": 1, "threads": 1},
        "memory": {"guest": "${MEMORY}"},
        "devices": {},
    }
    machine = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "${NAME}"},
        "spec": {"runStrategy": "Halted", "template": {"spec": {"domain": domain}}},
    }
    return {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": "server", "namespace": namespace},
        "parameters": [
            {"name": "NAME", "required": True},
            {"name": "SOCKETS", "value": "1"},
            {"name": "MEMORY", "value": "2Gi"},
        ],
        "objects": [machine],
    }


def test_users_of_a_converted_template_choose_the_size(task: Task, api: Any, shop: str) -> None:
    types = objects(api, "VirtualMachineInstancetype")
    found = types.get(namespace=shop).to_dict()["items"]
    catalog = [{**item, "kind": "VirtualMachineInstancetype"} for item in found]
    new = convert(openshift_template(shop), ConversionSources((), catalog), NEWEST).manifest
    assert {entry["name"]: entry.get("value") for entry in new["spec"]["parameters"]} == {
        "NAME": None,
        "INSTANCETYPE": "small",
    }
    api.resources.get(api_version=new["apiVersion"], kind=new["kind"]).create(body=new, namespace=shop)
    vms = objects(api, "VirtualMachine")
    for name, parameters in (("small", {}), ("medium", {"INSTANCETYPE": "medium"})):
        source = {"name": "server", "namespace": shop, "parameters": {"NAME": name, **parameters}}
        assert task("virtual_machine", name=name, from_template=source)["changed"]
        spec = vms.get(name=name, namespace=shop).to_dict()["spec"]
        assert spec["instancetype"]["name"] == name
        assert not {"cpu", "memory"} & set(spec["template"]["spec"]["domain"])
