"""The contract's matcher."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from matching import UnknownVariable, differences, pointer, substitute


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1.0}, {"a": 1}),
        ({"a": None}, {"a": None}),
        ([1, {"a": "x"}], [1, {"a": "x", "b": "y"}]),
        ({"a": {"$absent": True}}, {"b": 1}),
        ({"a": {"$any": True}}, {"a": None}),
        ({"$regex": "a+"}, "aaa"),
        ({"$set": [{"n": 1}, {"$any": True}]}, [{"n": 2}, {"n": 1}]),
        ({"$contains": [{"n": 1}]}, [{"n": 2}, {"n": 1, "m": 0}]),
        ({"$contains": [1], "$lacks": [3]}, [1, 2]),
        ({"$not": {"a": 1}}, {"a": 2}),
        ({"$exact": {"a": {"$any": True}, "b": {"$absent": True}}}, {"a": {"x": 1}}),
        ({"$exact": {"a": [{"b": 1}]}}, {"a": [{"b": 1}]}),
    ],
)
def test_matches(expected: Any, actual: Any) -> None:
    assert differences(expected, actual) == []


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"a": 1}, {}),
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": "1"}),
        ({"a": None}, {}),
        ({"a": {"$absent": True}}, {"a": None}),
        ({"a": {"$any": True}}, {}),
        ([1], [1, 2]),
        ([1, 2], [2, 1]),
        ({}, []),
        ({"$regex": "a"}, "ab"),
        ({"$regex": "1"}, 1),
        ({"$set": [{"n": 1}, {"n": 1}]}, [{"n": 1}, {"n": 2}]),
        ({"$set": [1]}, [1, 1]),
        ({"$contains": [{"n": 1}]}, [{"n": 2}]),
        ({"$lacks": [{"n": 1}]}, [{"n": 1, "m": 2}]),
        ({"$not": {"a": 1}}, {"a": 1, "b": 2}),
        ({"$exact": {"a": 1}}, {"a": 1, "b": 2}),
        ({"$exact": {"a": {"b": 1}}}, {"a": {"b": 1, "c": 2}}),
        ({"$exact": {"$set": [{"b": 1}]}}, [{"b": 1, "c": 2}]),
    ],
)
def test_differs(expected: Any, actual: Any) -> None:
    assert differences(expected, actual) != []


def test_a_set_finds_the_one_assignment_that_works() -> None:
    # The first entry would take what the second one alone can have.
    assert differences({"$set": [{"$any": True}, {"n": 1}]}, [{"n": 1}, {"n": 2}]) == []


def test_differences_name_the_place() -> None:
    assert differences({"a": [{"b": 1}]}, {"a": [{"b": 2}]}) == ["/a/0/b: expected 1, found 2"]


def test_unknown_operators_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown operator"):
        differences({"$perhaps": 1}, 1)


def test_substitution() -> None:
    variables = {"x": "a.b", "n": "k"}
    assert substitute({"${n}": ["${x}", 1]}, variables) == {"k": ["a.b", 1]}
    assert substitute({"$regex": "${x}-${UUID}"}, variables)["$regex"].startswith("a\\.b-[0-9a-f]{8}")
    with pytest.raises(UnknownVariable, match="y"):
        substitute("${y}", variables)


def test_pointer() -> None:
    document = {"a": [{"b/c": 1}]}
    assert pointer(document, "/a/0/b~1c") == 1
    assert pointer(document, "") == document
    for missing in ("/x", "/a/1", "/a/x", "/a/0/b~1c/d"):
        with pytest.raises(LookupError):
            pointer(document, missing)
