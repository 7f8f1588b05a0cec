"""A VM from a template, with options beside it, new and existing."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.declare.vm.manifest import manifest
from plugins.module_utils._templates.from_template import TemplatedVM, vm_from_template

Manifest = dict[str, Any]

DOMAIN = {"domain": {"devices": {}}}
GENERATED = {"name": "ID", "generate": "expression", "from": "[a-z]{8}"}
PASSWORD = {"name": "PASSWORD", "generate": "expression", "from": "[a-z]{8}"}


def template(vm: Manifest, *parameters: Manifest) -> Manifest:
    spec = {"template": {"spec": DOMAIN}, **vm.get("spec", {})}
    return {"spec": {"virtualMachine": {**vm, "spec": spec}, "parameters": list(parameters), "message": "hello"}}


def made(source: Manifest, live: Manifest | None = None, seed: str = "1", **options: Any) -> TemplatedVM:
    options = {"name": "web", "namespace": "shop", "from_template": {"name": "t"}, **options}
    return vm_from_template(source, options, manifest(options), live, seed)


def reference(**parameters: Any) -> dict[str, Any]:
    return {"name": "t", "parameters": parameters}


def test_name_and_namespace_are_those_of_the_options() -> None:
    vm = {"metadata": {"name": "${NAME}", "namespace": "${NS}", "labels": {"of": "${NS}.${NAME}"}}}
    result = made(template(vm, {"name": "NAME", "value": "other"}, {"name": "NS", "required": True}))
    assert result.manifest["metadata"] == {"name": "web", "namespace": "shop", "labels": {"of": "shop.web"}}
    assert result.parameters == {"NAME": "web", "NS": "shop"}
    fixed = made(template({"metadata": {"generateName": "vm-", "labels": {"a": "b"}}}))
    assert fixed.manifest["metadata"] == {"name": "web", "namespace": "shop", "labels": {"a": "b"}}
    assert fixed.message == "hello"


def test_a_given_parameter_must_fit_the_name() -> None:
    vm = {"metadata": {"name": "${APP}-${N}"}}
    parameters = ({"name": "APP"}, {"name": "N"})
    fitting = made(template(vm, *parameters), from_template=reference(APP="my-web"), name="my-web-1")
    assert fitting.parameters["N"] == "1"
    with pytest.raises(FieldError, match=r"^from_template: shop/t: from_template.parameters do not fit name: web, "):
        made(template(vm, *parameters), from_template=reference(APP="db"))


def test_generated_values_stay() -> None:
    source = template({"metadata": {"labels": {"id": "${ID}"}}}, GENERATED)
    first = made(source)
    again = made(source, first.manifest, seed="2")
    assert again.manifest == first.manifest
    assert made(source, seed="2").manifest != first.manifest
    changed = made(source, first.manifest, from_template=reference(ID="mine"))
    assert changed.manifest["metadata"]["labels"] == {"id": "mine"}
    with pytest.raises(FieldError, match="generated for ID cannot be read from the existing VM; set from"):
        made(source, {"metadata": {"name": "web"}, "spec": {}})


def test_secrets_are_named() -> None:
    annotations = {"note": "password ${PASSWORD}", "id": "${ID}"}
    source = template({"metadata": {"annotations": annotations}}, PASSWORD, {"name": "ID", "value": "plain"})
    first = made(source)
    assert first.secrets == {first.parameters["PASSWORD"]}
    second = made(source, first.manifest, from_template=reference(PASSWORD="other"))
    assert second.secrets == {first.parameters["PASSWORD"], "other"}


def test_options_override_the_template() -> None:
    spec = {
        "instancetype": {"name": "u1.small", "kind": "VirtualMachineInstancetype"},
        "template": {"spec": {**DOMAIN, "nodeSelector": {"a": "b"}, "tolerations": [{"key": "x"}]}},
        "running": False,
    }
    source = template({"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": spec})
    options: dict[str, Any] = {"labels": {"a": "e"}, "instancetype": {"name": "u1.large"}, "node_selector": {"c": "d"}}
    result = made(source, tolerations=[{"key": "y"}], **options).manifest
    assert result["metadata"]["labels"] == {"a": "e", "c": "d"}
    assert result["spec"]["instancetype"] == {"name": "u1.large"}
    assert result["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b", "c": "d"}
    assert result["spec"]["template"]["spec"]["tolerations"] == [{"key": "y"}]
    assert result["spec"]["runStrategy"] == "Halted"


def test_an_existing_vm_keeps_its_run_strategy() -> None:
    source = template({"spec": {"runStrategy": "Halted"}})
    live = {"metadata": {"name": "web"}, "spec": {"runStrategy": "Always"}}
    assert "runStrategy" not in made(source, live).manifest["spec"]
    assert made(source, live, run_strategy="Halted").manifest["spec"]["runStrategy"] == "Halted"


@pytest.mark.parametrize(
    ("vm", "words"),
    [
        ({"metadata": {"labels": {"a": "${MISSING}"}}}, "references undefined parameter MISSING; define it in"),
        ({"spec": {"template": {"spec": {**DOMAIN, "volums": []}}}}, "volums: unknown field; did you mean volumes"),
        ({"spec": {"tmplate": {}}}, "spec.tmplate: unknown field; did you mean template?"),
    ],
)
def test_a_bad_template_is_refused_on_one_line(vm: Manifest, words: str) -> None:
    with pytest.raises(FieldError) as refused:
        made(template(vm))
    assert str(refused.value).startswith("from_template: shop/t: ") and words in str(refused.value)
