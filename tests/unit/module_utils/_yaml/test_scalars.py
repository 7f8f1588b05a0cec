"""Scalars are read as by Go's reader, whose answers are recorded, and as by PyYAML, which is at hand."""

import json
import math
from datetime import date
from typing import Any

import pytest
import yaml
from yaml_scalars.cases import SCALARS
from yaml_scalars.record import RECORDED

from plugins.module_utils._yaml.documents import TextError, documents
from plugins.module_utils._yaml.scalars import ansible
from plugins.module_utils._yaml.unquoted import UnquotedKey, number_problem

READ = json.loads(RECORDED.read_text(encoding="utf-8"))["read"]


def read(text: str, **options: Any) -> Any:
    """The document of a text, or the error."""
    try:
        return next((item.content for item in documents(text, "x", keep_unknown_tags=True, **options)), None)
    except TextError as error:
        return {"!error": str(error)}


@pytest.mark.parametrize("scalar", SCALARS)
def test_a_value_is_read_as_by_go(scalar: str) -> None:
    found, expected = read(f"v: {scalar}\n"), READ[scalar][0]
    if "!error" in expected:
        assert "!error" in found or number_problem(found["v"])
    else:
        assert json.dumps(found) == json.dumps(expected) or found == expected == {"v": float(found["v"])}


@pytest.mark.parametrize("scalar", SCALARS)
def test_a_key_is_read_as_by_go(scalar: str) -> None:
    found, expected = read(f"{scalar}: v\n"), READ[scalar][1]
    if not expected or not isinstance(expected, dict):
        assert found == expected or "!error" in found
    elif "!error" in expected:
        assert "!error" in found or all(isinstance(key, UnquotedKey) for key in found)
    else:
        # A key that changes is kept as written, and reported.
        (key,) = found
        assert isinstance(key, UnquotedKey) != (key == next(iter(expected)))


@pytest.mark.parametrize("scalar", SCALARS)
def test_ansible_reads_as_pyyaml(scalar: str) -> None:
    text = f"v: {scalar}\n"
    found = read(text, scalars=ansible)
    try:
        expected = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        assert "!error" in found or isinstance(found["v"], str)
        return
    value = expected["v"]
    if isinstance(value, (date, bytes)):
        expected = {"v": value.isoformat() if isinstance(value, date) else scalar.split()[-1]}
    assert found == expected or (math.isnan(value) and math.isnan(found["v"]))


def test_recorded_answers_belong_to_the_scalars() -> None:
    assert tuple(READ) == SCALARS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &a {x: 1}\nb: {x: 5, <<: *a}\n", 1),
        ("a: &a {x: 1}\nb: {<<: *a, x: 5}\n", 5),
        ("a: &a {x: 1}\nc: &c {x: 2}\nb: {<<: [*a, *c]}\n", 1),
        ("a: &a {x: 1}\nb: {!!merge <<: *a}\n", 1),
    ],
)
def test_merges_follow_the_order_of_go(text: str, expected: int) -> None:
    assert read(text)["b"]["x"] == expected
    assert read(text, scalars=ansible) == yaml.safe_load(text)


def test_a_quoted_merge_is_a_key() -> None:
    assert read('{"<<": {a: 1}}') == {"<<": {"a": 1}}


@pytest.mark.parametrize("scalar", ["!!bool maybe", "!!timestamp soon", "!!int x", "!!float x"])
def test_a_value_of_another_type_is_an_error(scalar: str) -> None:
    assert "not valid for the type" in read(f"v: {scalar}", scalars=ansible)["!error"]
