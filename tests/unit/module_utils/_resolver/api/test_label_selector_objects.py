"""Label selectors as objects have them, and the expressions of node selectors."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.label_selector import matches, matches_expression

LABELS = {"zone": "a", "size": "8"}


@pytest.mark.parametrize(
    ("operator", "key", "values", "expected"),
    [
        ("In", "zone", ["a", "b"], True),
        ("In", "zone", ["b"], False),
        ("In", "none", ["a"], False),
        ("NotIn", "zone", ["a"], False),
        ("NotIn", "none", ["a"], True),
        ("Exists", "zone", None, True),
        ("Exists", "none", None, False),
        ("DoesNotExist", "zone", None, False),
        ("DoesNotExist", "none", None, True),
        ("Gt", "size", ["7"], True),
        ("Gt", "size", ["8"], False),
        ("Lt", "size", ["9"], True),
        ("Lt", "none", ["9"], False),
        ("Lt", "zone", ["9"], False),
        ("Gt", "size", ["1", "2"], False),
        ("Near", "size", ["8"], False),
    ],
)
def test_expressions(operator: str, key: str, values: list[str] | None, expected: bool) -> None:
    assert matches_expression({"key": key, "operator": operator, "values": values}, LABELS) is expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, True),
        ({"matchLabels": {"zone": "a"}, "matchExpressions": [{"key": "size", "operator": "Exists"}]}, True),
        ({"matchLabels": {"zone": "b"}}, False),
        ({"matchLabels": {"zone": "a"}, "matchExpressions": [{"key": "none", "operator": "Exists"}]}, False),
    ],
)
def test_selectors(selector: dict[str, Any], expected: bool) -> None:
    assert matches(selector, LABELS) is expected
