"""Keys and numbers that YAML reads as something else than is written."""

from datetime import date
from typing import Any

import pytest

from plugins.module_utils._yaml.unquoted import UnquotedKey, UnquotedNumber, problem

EIGHT = UnquotedNumber("010", 8)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, "no", None, True, {"b": 1.5}]}, None),
        ({"labels": {UnquotedKey("no", False): "x"}}, ("labels.no", "the key no is false in YAML; put it in quotes")),
        ({UnquotedKey("1", 1): "x"}, ("1", "the key 1 is the number 1 in YAML; put it in quotes")),
        ({UnquotedKey("~", None): "x"}, ("~", "the key ~ is null in YAML; put it in quotes")),
        ({"a": [{"b": EIGHT}]}, ("a[0].b", '010 is 8 in YAML; write 8 or "010"')),
        # Ansible reads such keys and numbers, and does not keep the text.
        ({"labels": {True: "x"}}, ("labels", "YAML read a key as true; put it in quotes")),
        ({"a": [{1.1: "x"}]}, ("a[0]", "YAML read a key as the number 1.1; put it in quotes")),
        ({date(2026, 1, 1): "x"}, ("", "YAML read a key as a date; put it in quotes")),
        # The first in the order of the text.
        ({"a": {"b": EIGHT}, "c": EIGHT}, ("a.b", '010 is 8 in YAML; write 8 or "010"')),
    ],
)
def test_unquoted_values_are_found(value: Any, expected: tuple[str, str] | None) -> None:
    assert problem(value) == expected


def test_values_with_repeated_parts_or_themselves() -> None:
    part: Any = {"x": 1}
    for _level in range(100):
        part = {"a": part, "b": part}
    part["c"] = part
    assert problem(part) is None


def test_a_key_behind_repeated_parts_is_found() -> None:
    shared = ["x"]
    path, reason = problem({"first": shared, "second": shared, "third": {1: "x"}}) or ("", "")
    assert path == "third" and reason.startswith("YAML read a key as the number 1")


def test_numbers_and_keys_behave_like_plain_values() -> None:
    assert (EIGHT + 1, {UnquotedKey("no", False): 1}) == (9, {"no": 1})
