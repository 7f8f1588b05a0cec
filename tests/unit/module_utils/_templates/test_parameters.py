"""The values with which a live VM was made of a template."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._templates.parameters import explicit_in, generate, generated_in, pattern, recovered, texts
from plugins.module_utils._templates.substitution import escaped, references, substitute


@pytest.mark.parametrize(
    ("text", "actual", "known", "values"),
    [
        ("${A}", "web", {}, {"A": "web"}),
        ("root-${A}-disk", "root-web-disk", {}, {"A": "web"}),
        ("${A}-${B}", "web-1", {}, {"A": "web", "B": "1"}),
        ("${A}-x", "a-x-x", {}, {"A": "a-x"}),
        ("${A}-${A}", "web-web", {}, {"A": "web"}),
        ("${A}-${B}", "my-web-1", {"A": "my-web"}, {"B": "1"}),
        ("${{A}}", "web", {}, {"A": "web"}),
        ("${A}", "web", {"A": "web"}, {}),
        # More than one way, or none.
        ("${A}-${B}", "my-web-1", {}, None),
        ("${A}${B}", "web", {}, None),
        ("${A}-${A}", "web-db", {}, None),
        ("root-${A}", "web", {}, None),
        ("${A}-x", "web", {}, None),
        ("${A}", "web", {"A": "db"}, None),
    ],
)
def test_values_that_someone_gave(text: str, actual: str, known: dict[str, str], values: dict[str, str] | None) -> None:
    assert explicit_in(text, actual, known) == values


def test_generated_values_are_told_apart_by_their_expressions() -> None:
    expressions = {"A": "[a-z]{3}", "B": "v[0-9]{2}"}
    assert generated_in("${A}${B}${A}", "webv12web", {}, expressions) == {"A": "web", "B": "v12"}
    assert generated_in("${A}${B}${A}", "webv12abc", {}, expressions) is None
    assert generated_in("${A}.${C}", "web.x", {}, expressions) is None
    assert generated_in("${A}.${C}", "web.x", {"C": "x"}, expressions) == {"A": "web"}


@pytest.mark.parametrize("expression", ["vm-[a-z0-9]{5}", r"[\w]{9}.[\A]{20}", r"a+b[\d]{1}[A-Z]{2}", "fixed"])
def test_pattern_is_that_of_what_is_generated(expression: str) -> None:
    result = generate(expression, "seed")
    assert generated_in("${X}", result, {}, {"X": expression}) == {"X": result}
    assert generated_in("${X}", f"{result}!", {}, {"X": expression}) is None
    assert pattern(expression)


def test_values_are_read_where_the_template_has_them() -> None:
    declared: list[dict[str, Any]] = [{"name": name, "generate": "expression"} for name in ("ID", "N", "SIZE", "GONE")]
    template = {
        "metadata": {"labels": {"id": "${ID}", "${ID}": "x"}},
        "spec": {"n": "${{N}}", "volumes": [{"name": "b", "size": "${SIZE}Gi"}, {"x": "${GONE}"}]},
    }
    live = {
        "metadata": {"labels": {"id": "a1"}},
        "spec": {"n": 2, "volumes": [{"name": "a", "size": "1Gi"}, {"name": "b", "size": "5Gi"}]},
    }
    names = [entry["name"] for entry in declared]
    assert recovered(declared, names, template, live, {}) == {"ID": "a1", "N": "2", "SIZE": "5"}
    assert recovered(declared, ["ID"], template, live, {}) == {"ID": "a1"}


def test_changed_default_does_not_hide_the_value() -> None:
    declared = [{"name": "A", "value": "new"}, {"name": "B", "generate": "expression", "from": "[a-z]{3}"}]
    assert recovered(declared, ["B"], ["user ${A}: ${B}"], ["user old: abc"], {"A": "new"}) == {"B": "abc"}


def test_parameters_are_texts() -> None:
    assert texts({"A": 1, "B": True, "C": None, "D": "x", "E": 1.5}) == {
        "A": "1",
        "B": "true",
        "C": "",
        "D": "x",
        "E": "1.5",
    }
    with pytest.raises(FieldError, match=r"^parameters\.A: expected a string; write JSON, with to_json$"):
        texts({"A": [1]})


def test_values_of_an_invalid_expression() -> None:
    assert generated_in("${A}", "web", {}, {"A": "[z-a]{3}"}) is None


# References that are to stay as they are; tests/templates has the substitution.


@pytest.mark.parametrize(
    "value",
    ["a ${A} ${A}${B}", "${{A}}", "x${{A}}", "$${A}", "$A $(A)", {"${A}": ["${B}", 5, None, True]}, "${A} ${{A}}"],
)
def test_what_is_escaped_comes_back(value: Any) -> None:
    result = escaped(value, "DOLLAR")
    assert set(references(result)) <= {"DOLLAR"}
    assert substitute(result, {"DOLLAR": "$"}) == value
