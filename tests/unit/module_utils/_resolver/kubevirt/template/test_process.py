"""Processing of templates beyond the vectors of tests/templates."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.template.process import process

NAME = {"name": "NAME", "generate": "expression", "from": "vm-[a-z0-9]{8}"}
WORD = {"name": "WORD", "generate": "expression", "from": "vm-[a-z0-9]{8}"}
TEMPLATE = {"spec": {"virtualMachine": {"metadata": {"name": "${NAME}-${WORD}"}}, "parameters": [NAME, WORD]}}


def test_seed_reproduces_a_distinct_value_per_parameter() -> None:
    result = process(TEMPLATE, {}, "secret").generated or {}
    assert process(TEMPLATE, {}, "secret").generated == result
    assert result["NAME"] != result["WORD"]
    assert process(TEMPLATE, {}, "other").generated != result


def test_a_given_value_is_not_generated() -> None:
    result = process(TEMPLATE, {"NAME": "web"}, "secret")
    assert list(result.generated or {}) == ["WORD"]
    assert (result.substituted or {})["metadata"]["name"].startswith("web-vm-")


def test_vmi_fields_ignore_case_and_drop_unknown_ones() -> None:
    spec = {"Domain": {"cpu": {"CORES": 2}}, "nope": 1}
    result = process({"spec": {"virtualMachine": {"spec": {"template": {"spec": spec}}}}}, {}, "").vm or {}
    assert result["spec"]["template"]["spec"]["domain"]["cpu"] == {"cores": 2}
    assert "nope" not in result["spec"]["template"]["spec"]


def test_a_number_that_is_no_float_is_refused() -> None:
    error = process({"spec": {"virtualMachine": {"spec": {"a": 10**400}}}}, {}, "").errors[0]
    assert error.message.endswith("a number is larger than a 64-bit float")


def test_minus_zero_is_zero_in_a_field() -> None:
    template = {
        "spec": {
            "virtualMachine": {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": "${{S}}"}}}},
            "parameters": [{"name": "S", "value": "-0"}],
        }
    }
    result = process(template, {}, "")
    assert (result.vm or {})["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 0


def test_substitution_matches_recorded_results() -> None:
    """templates.json.gz has what virt-template v0.2.2 made."""
    recorded = json.loads(gzip.decompress(Path(__file__).with_name("templates.json.gz").read_bytes()))
    for case in recorded:
        result = process({"spec": case["template"]}, case["parameters"], "")
        assert result.substituted == case["expect"], case["about"]
    assert len(recorded) > 500
