"""What counts as the same: by the type's meaning, as KubeVirt's `equality.Semantic` has it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.schema import equal

SAME = [
    pytest.param("Quantity", "4Gi", "4294967296", id="a quantity by its value"),
    pytest.param("*Quantity", "1", "1000m", id="a pointer to a quantity"),
    pytest.param("Quantity!", "1k", "1000", id="a quantity that must be there"),
    pytest.param(
        "map[string]Quantity", {"cpu": "1", "memory": "1Gi"}, {"memory": "1024Mi", "cpu": "1000m"}, id="a map"
    ),
    pytest.param("[]Quantity", ["1", "2"], ["1000m", "2"], id="a list"),
    pytest.param("[]string", [], None, id="an empty list and none"),
    pytest.param("[]string", None, [], id="no list and an empty one"),
    pytest.param("map[string]string", {}, None, id="an empty map and none"),
    pytest.param("MemoryInstancetype", {"guest": "1Gi"}, {"guest": "1024Mi"}, id="an object by its fields"),
    pytest.param("MemoryInstancetype", {"guest": "1Gi", "maxGuest": None}, {"guest": "1Gi"}, id="no value, no field"),
    pytest.param("string", "a", "a", id="a text"),
    pytest.param("*bool", None, None, id="none and none"),
]
DIFFERENT = [
    pytest.param("Quantity", "4Gi", "4G", id="quantities"),
    pytest.param("string", "1", "1000m", id="texts that would be one quantity"),
    pytest.param("map[string]string", {"cpu": "1"}, {"cpu": "1000m"}, id="a map of texts"),
    pytest.param("map[string]string", {"one": "a"}, {"other": "a"}, id="keys"),
    pytest.param("map[string]string", {"one": "a"}, {"one": "a", "other": "b"}, id="a key more"),
    pytest.param("map[string]string", {"one": "a", "other": "b"}, {"one": "a"}, id="a key less"),
    pytest.param("[]string", ["a", "b"], ["a"], id="an entry less"),
    pytest.param("[]string", ["a", "b"], ["b", "a"], id="the order of a list"),
    pytest.param("[]string", ["a"], None, id="a list and none"),
    pytest.param("NUMA", {}, None, id="an empty object and none"),
    pytest.param("MemoryInstancetype", {"guest": "1Gi"}, {"guest": "1Gi", "maxGuest": "2Gi"}, id="a field more"),
    pytest.param("*bool", False, None, id="false and none"),
]


def both_ways(expression: str, left: Any, right: Any) -> list[bool]:
    return [equal(expression, *pair) for pair in ((left, right), (right, left))]


@pytest.mark.parametrize(("expression", "left", "right"), SAME)
def test_equal_values(expression: str, left: Any, right: Any) -> None:
    assert both_ways(expression, left, right) == [True, True]


@pytest.mark.parametrize(("expression", "left", "right"), DIFFERENT)
def test_different_values(expression: str, left: Any, right: Any) -> None:
    assert both_ways(expression, left, right) == [False, False]
