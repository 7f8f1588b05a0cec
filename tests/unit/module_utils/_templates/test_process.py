"""Processing of templates beyond the vectors of tests/templates, and the words of their refusals."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._templates.process import check_vm, process


def test_a_number_that_is_no_float_is_refused() -> None:
    (error,) = process({"spec": {"virtualMachine": {"spec": {"a": 10**400}}}}, {}, "").errors
    assert str(error) == "spec.virtualMachine: a number is larger than a 64-bit float"


def vm(spec: Any = None, **metadata: Any) -> dict[str, Any]:
    return {"metadata": metadata, "spec": spec}


def guest(spec: Any) -> dict[str, Any]:
    return vm({"template": {"spec": spec}})


@pytest.mark.parametrize(
    "value",
    [
        vm(),
        vm(generation=-0.0),
        vm(creationTimestamp="2026-01-02T03:04:05.5+01:00"),
        guest(None),
        guest({"terminationGracePeriodSeconds": -0.0}),
        # KubeVirt reads these fields in any case, and drops unknown ones.
        guest({"Domain": {"CPU": {"Cores": 2}, "unknown": 1}}),
    ],
)
def test_a_vm_that_virt_template_reads(value: dict[str, Any]) -> None:
    check_vm(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (vm([]), "spec: expected an object, found a list"),
        (vm({"template": []}), "spec.template: expected an object, found a list"),
        (vm({"dataVolumeTemplates": {}}), "spec.dataVolumeTemplates: expected a list, found an object"),
        (vm(generation=1.5), "metadata.generation: expected a whole number, found 1.5"),
        (vm(creationTimestamp=5), "metadata.creationTimestamp: expected a string, found 5"),
        (
            vm(creationTimestamp="2026-01-02T03:04:05Zx"),
            "metadata.creationTimestamp: '2026-01-02T03:04:05Zx' is not a time such as 2026-01-02T15:04:05Z",
        ),
        (
            vm({"dataVolumeTemplates": [{"specs": {}, "a": 2}]}),
            "spec.dataVolumeTemplates[0].specs: unknown field; did you mean spec?; spec.dataVolumeTemplates[0].a:"
            " unknown field; choose from kind, apiVersion, metadata, spec, status",
        ),
        # Values of wrong types come before unknown fields.
        (vm({"a": 1, "runStrategy": 5}), "spec.runStrategy: expected a string, found 5"),
        (guest([]), "spec.template.spec: expected an object, found a list"),
        (
            guest({"Domain": {"CPU": {"Cores": "2"}}}),
            "spec.template.spec.domain.cpu.cores: expected a whole number, found '2'",
        ),
        (
            guest({"domain": {"cpu": {"cores": -0.0}}}),
            "spec.template.spec.domain.cpu.cores: expected a whole number, found -0.0",
        ),
    ],
)
def test_errors_name_the_field(value: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError) as error:
        check_vm(value)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("null", "spec.parameters: the value of KEY is null, which ${{KEY}} cannot put in"),
        ("5", "spec.parameters: the value of KEY is no text, and ${{KEY}} is a key; write ${KEY}"),
    ],
)
def test_value_that_is_no_key(value: str, message: str) -> None:
    spec = {"virtualMachine": {"metadata": {"labels": {"${{KEY}}": "x"}}}, "parameters": [{"name": "KEY"}]}
    (error,) = process({"spec": spec}, {"KEY": value}, "").errors
    assert str(error) == message
