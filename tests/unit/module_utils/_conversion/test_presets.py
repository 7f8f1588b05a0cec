"""The effect of presets on a VMI; test_presets_against_server.py asks a running KubeVirt the same."""

from typing import Any

import pytest

from plugins.module_utils._conversion import presets
from plugins.module_utils._resolver.api.errors import FieldError
from preset_cases import CASES, CPU, GIB, Case, requests


@pytest.mark.parametrize("name", CASES)
def test_as_the_server_answers(name: str) -> None:
    case = CASES[name]
    result = case.answer(name)
    assert bool(result.conflicts) == case.refused
    marks = {key for key in result.annotations if key.startswith("virtualmachinepreset.")}
    assert marks == {f"virtualmachinepreset.kubevirt.io/{name}" for name in case.applied}
    assert result.domain == {"resources": {}, "devices": {}, **case.domain, **case.changes}


def preset(selector: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "one"}, "spec": {"selector": selector, "domain": {"devices": {}, **CPU}, **spec}}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ({}, True),
        ({"matchLabels": {"size": "small"}}, True),
        ({"matchLabels": {"size": "large"}}, False),
        ({"matchExpressions": [{"key": "size", "operator": "In", "values": ["small", "tiny"]}]}, True),
        ({"matchLabels": {"size": "small"}, "matchExpressions": [{"key": "os", "operator": "Exists"}]}, False),
    ],
)
def test_selectors(selector: dict[str, Any], matches: bool) -> None:
    result = presets.apply({"labels": {"size": "small"}}, {}, [preset(selector)])
    assert (result.matching == ("one",)) == matches == ("cpu" in result.domain)


def test_chance_decides_between_requests() -> None:
    """KubeVirt takes the requests of one as a whole, and its order of presets is arbitrary."""
    both = {"b": requests(cpu="1"), "a": GIB}
    result = Case(both).answer("x")
    assert result.order_dependent and result.domain["resources"] == GIB["resources"]
    assert not Case(both, requests(memory="4Gi")).answer("x").order_dependent


def test_a_preset_without_domain() -> None:
    with pytest.raises(FieldError, match=r"VirtualMachineInstancePreset one: spec.domain: is missing"):
        presets.apply({}, {}, [preset({}, domain=None)])
    with pytest.raises(FieldError, match=r"VirtualMachineInstancePreset one: spec.domain.cpu.cores: "):
        presets.apply({}, {}, [preset({}, domain={"cpu": {"cores": "x"}})])
