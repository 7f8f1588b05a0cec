"""The remedies for values of a wrong type name the filter that gives the right one."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.type_remedies import AS_TEXT, FROM_YAML, type_remedy, wrong_type


@pytest.mark.parametrize(
    ("expected", "value", "filter_name"),
    [
        ("a string", 5, "string"),
        ("a text", True, "string"),
        ("true or false", "true", "bool"),
        ("true or false", "Off", "bool"),
        ("true or false", 1, "bool"),
        ("a whole number", " 5 ", "int"),
        ("a whole number", 5.0, "int"),
        ("a number", "1.5", "float"),
        ("a list", '["a"]', "from_yaml"),
        ("a list", "- a", "from_yaml"),
        ("an object", "a: 1", "from_yaml"),
        ("a dictionary", "{}", "from_yaml"),
        # These are no values of another type that mean the right one.
        ("a string", ["a"], ""),
        ("a text", "", ""),
        ("true or false", "maybe", ""),
        ("a whole number", "five", ""),
        ("a whole number", 1.5, ""),
        ("a list", "a", ""),
        ("a name", 5, ""),
    ],
)
def test_a_remedy_names_the_filter(expected: str, value: Any, filter_name: str) -> None:
    message = wrong_type(expected, value)
    assert message.startswith(f"expected {expected}, found ")
    assert message.endswith(f"{{{{ value | {filter_name} }}}} if it comes from a template") == bool(filter_name)


def test_remedies_in_the_words_of_the_schema() -> None:
    assert type_remedy("expected a string, found a boolean") == AS_TEXT
    assert type_remedy("expected a string, found an object") == type_remedy("expected an object, found a list") == ""
    assert type_remedy("expected a list, found '[]'") == FROM_YAML
