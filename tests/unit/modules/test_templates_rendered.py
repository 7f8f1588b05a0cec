"""state: rendered of VirtualMachineTemplates, and of VMs from them."""

from collections.abc import Callable
from typing import Any

Render = Callable[..., dict[str, Any]]

VM = {"metadata": {"name": "vm"}, "spec": {"template": {"spec": {"domain": {"devices": {}}}}}}
TEMPLATE = {"name": "os", "namespace": "shop", "virtual_machine": VM}


def test_nothing_is_asked(render: Render) -> None:
    result = render("virtual_machine_template", **TEMPLATE)
    assert [manifest["kind"] for manifest in result["rendered"]] == ["VirtualMachineTemplate"]
    assert (result["changed"], result["msg"]) == (False, "1 virtual machine template rendered")


def test_what_cannot_be_rendered_is_one_line(render: Render) -> None:
    result = render("virtual_machine", name="web", from_template="os")
    assert result["failed"] and "from_template: needs a connection," in result["msg"]
    result = render("virtual_machine_template", **TEMPLATE, kubevirt_version="1.8")
    assert result["failed"] and "kubevirt_version: KubeVirt has Virtual" in result["msg"]
