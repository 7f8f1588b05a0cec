"""JSON as Go reads and writes it where the types are not known."""

import math
from typing import Any

import pytest

from plugins.module_utils._templates import go_json


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [
        ("9007199254740993", 9007199254740992, "9007199254740992"),
        ("18446744073709551615", 18446744073709552000, "18446744073709552000"),
        ("1e3", 1000, "1000"),
        ("2.50", 2.5, "2.5"),
        ("1e22", 1e22, "1e+22"),
        ("0.00001", 1e-5, "0.00001"),
        ("1e-7", 1e-7, "1e-7"),
        ("1e-12", 1e-12, "1e-12"),
        ("-0", 0, "-0"),
        (' {"b": [true, null], "a": "<ä\\u2028\\ud800>"} ', {"b": [True, None], "a": "<ä\u2028\ufffd>"}, None),
    ],
)
def test_values_are_read_and_written_as_by_go(text: str, value: Any, written: str | None) -> None:
    read = go_json.parse(text)
    assert read == value
    assert type(read) is type(value) or math.copysign(1, read) < 0
    assert go_json.write(read) == (written or '{"a":"\\u003cä\\u2028\ufffd\\u003e","b":[true,null]}')


@pytest.mark.parametrize("text", ["", "yes", "05", "NaN", "-Infinity", "1e400", "'a'", "[" * 100_000])
def test_json_rejected_by_go_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        go_json.parse(text)


def test_numbers_become_floats_and_oversized_are_refused() -> None:
    value = {"a": [2**63, 1.0, True, "1"]}
    assert go_json.write(go_json.numbers(value)) == '{"a":[9223372036854775808,1,true,"1"]}'.replace("775808", "776000")
    with pytest.raises(OverflowError):
        go_json.numbers(10**400)
