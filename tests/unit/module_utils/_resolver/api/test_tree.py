"""Trees of JSON values: merges, patches, places and leaves."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.tree import apply_merge_patch, leaves, merge, path_of, reverse_merge_patch, scan


@pytest.mark.parametrize(
    ("target", "addition", "merged"),
    [
        ({}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": None}, {"a": 1}, {"a": 1}),
        # An empty value overrides nothing, and an equal one is not said twice.
        ({"a": 1}, {"a": None, "b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ({"a": False}, {"a": False}, {"a": False}),
        ({"a": {"b": 1, "c": [1]}}, {"a": {"c": [1, 2], "d": 3}}, {"a": {"b": 1, "c": [1, 1, 2], "d": 3}}),
    ],
)
def test_merged(target: dict[str, Any], addition: dict[str, Any], merged: dict[str, Any]) -> None:
    before = copy.deepcopy(addition)
    assert merge(target, addition) is target
    assert (target, addition) == (merged, before)


def test_merge_copies_the_addition() -> None:
    addition: dict[str, Any] = {"a": [{"b": 1}], "c": {"d": []}}
    merged = merge({"a": []}, addition)
    merged["a"][0]["b"] = 2
    merged["c"]["d"].append(1)
    assert addition == {"a": [{"b": 1}], "c": {"d": []}}


@pytest.mark.parametrize(("there", "kind"), [({}, "an object"), ([], "a list")])
def test_text_is_merged_with_no_structure(there: Any, kind: str) -> None:
    with pytest.raises(FieldError) as error:
        merge({"a": {"b": there}}, {"a": {"b": "text"}})
    assert str(error.value) == f"a.b: expected {kind}, found 'text'"


@pytest.mark.parametrize(
    ("base", "patch", "patched"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": None}, "d": {"e": 4}}, {"a": {"b": 3}, "d": {"e": 4}}),
        ({"a": {"b": 1}, "c": [1]}, {"a": 5, "c": [2, 3]}, {"a": 5, "c": [2, 3]}),
        ({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}),
        ({"a": {"b": 1}}, {"a": None, "c": None}, {}),
    ],
)
def test_a_patch_can_be_undone(base: dict[str, Any], patch: dict[str, Any], patched: dict[str, Any]) -> None:
    assert apply_merge_patch(base, patch) == patched
    assert apply_merge_patch(patched, reverse_merge_patch(base, patch)) == base


def test_scan_finds_aliases_once_and_in_order() -> None:
    shared = [1]
    found = [(path_of(place), part) for place, part in scan({"a": shared, "b": {"c": shared, "d": 2}, "e": [3, 4]})]
    assert [path for path, _part in found] == ["", "a", "a[0]", "b", "b.d", "e", "e[0]", "e[1]"]
    assert [part for _path, part in found if not isinstance(part, (dict, list))] == [1, 2, 3, 4]


@pytest.mark.parametrize("value", ["text", [1], {}, None, 0])
def test_value_without_fields_is_one_leaf(value: Any) -> None:
    assert leaves(value, ("a",)) == {("a",): value}
