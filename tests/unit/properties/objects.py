"""Hypothesis strategies for objects of the API, generated from `schema.TYPES`."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.fields import ENUMS

# Deeper there is only what has to be there.
DEPTH = 6
# Optional fields of one object.
WIDTH = 5

NUMBERS = st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,4})?", fullmatch=True)
SUFFIXES = st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"])
QUANTITIES = st.builds(
    lambda sign, number, suffix: sign + number + suffix, st.sampled_from(["", "-", "+"]), NUMBERS, SUFFIXES
)
AMOUNTS = st.builds(
    lambda number, suffix: f"{number}{suffix}", st.integers(1, 5000), st.sampled_from(["", "k", "Mi", "Gi"])
)

# Few, so that names in one part of an object meet those in another.
TEXTS = st.sampled_from(["", "a", "b", "root", "default", "é\n<&"])

_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXTS,
    "bool": st.booleans(),
    "int": st.integers(-3, 100),
    "int32": st.integers(-3, 100),
    "int64": st.integers(-3, 100),
    "uint": st.integers(0, 100),
    "uint32": st.integers(0, 8),
    "Quantity": AMOUNTS | st.integers(0, 10**10),
    "IntOrString": st.integers(0, 100) | TEXTS,
    "Time": st.just("2026-01-02T03:04:05Z"),
    "any": st.just({"a": [1]}),
}


@cache
def objects(type_name: str, depth: int = DEPTH) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of a type (a key of schema.TYPES), with any choice of its fields, nulls and empty values among them."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, declaration in schema.TYPES[type_name].items():
        expression = schema.field_type(declaration)
        if expression.endswith("!"):
            required[name] = values(expression.rstrip("!"), depth - 1)
        elif depth > 0:
            optional[name] = values(expression, depth - 1)
    always = st.fixed_dictionaries(required)
    if not optional:
        return always
    # A few of the dozens of fields: a random object should be deep rather than wide.
    chosen = st.lists(st.sampled_from(sorted(optional)), max_size=WIDTH, unique=True)
    some = chosen.flatmap(lambda names: st.fixed_dictionaries({name: optional[name] | st.none() for name in names}))
    return st.builds(lambda item, other: {**item, **other}, always, some)


def values(expression: str, depth: int) -> st.SearchStrategy[Any]:
    """Values of a type expression."""
    if expression.startswith("*"):
        return values(expression[1:], depth)
    if expression.startswith("[]"):
        return st.lists(values(expression[2:], depth), max_size=2 if depth > 0 else 0)
    if expression.startswith("map[string]"):
        entries = values(expression[len("map[string]") :], depth)
        return st.dictionaries(st.sampled_from(["cpu", "memory", "a.b/c"]), entries, max_size=2)
    if expression in schema.TYPES:
        return st.deferred(lambda: objects(expression, max(depth, 0)))
    if expression in ENUMS:
        return st.sampled_from(ENUMS[expression])
    return _SCALARS[expression]


INSTANCETYPES = objects("VirtualMachineInstancetypeSpec")
PREFERENCES = objects("VirtualMachinePreferenceSpec")
TEMPLATES = objects("VirtualMachineInstanceTemplateSpec")
