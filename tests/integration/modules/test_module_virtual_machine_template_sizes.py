"""virtual_machine with a template that `modernize` converted: users choose the instancetype instead of the size."""

from collections.abc import Callable
from typing import Any

import pytest

from plugins.module_utils._conversion.template_bundles import Sources, convert
from plugins.module_utils._resolver.api.release import NEWEST

pytestmark = pytest.mark.needs("templates")

Run = Callable[..., dict[str, Any]]


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


def test_users_of_a_converted_template_choose_the_size(run: Run, api: Any, shop: str) -> None:
    types = api.resources.get(api_version="instancetype.kubevirt.io/v1beta1", kind="VirtualMachineInstancetype")
    catalog = [{**item.to_dict(), "kind": "VirtualMachineInstancetype"} for item in types.get(namespace=shop).items]
    new = convert(openshift_template(shop), Sources((), catalog), NEWEST).manifest
    assert {entry["name"]: entry.get("value") for entry in new["spec"]["parameters"]} == {
        "NAME": None,
        "INSTANCETYPE": "small",
    }
    api.resources.get(api_version=new["apiVersion"], kind=new["kind"]).create(body=new, namespace=shop)
    vms = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
    for name, parameters in (("small", {}), ("medium", {"INSTANCETYPE": "medium"})):
        source = {"name": "server", "namespace": shop, "parameters": {"NAME": name, **parameters}}
        created = run("virtual_machine", name=name, namespace=shop, from_template=source)
        assert created["changed"] and not created.get("failed"), created
        spec = vms.get(name=name, namespace=shop).to_dict()["spec"]
        assert spec["instancetype"]["name"] == name
        assert not {"cpu", "memory"} & set(spec["template"]["spec"]["domain"])
