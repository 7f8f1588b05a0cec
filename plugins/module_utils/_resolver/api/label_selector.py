"""Kubernetes' label selectors, both objects and the text form of `kubectl get --selector`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .errors import FieldError
from .name_rules import quoted

Test = Callable[[Mapping[str, str]], bool]

_KEY: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_SET: Final = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_EQUAL: Final = re.compile(rf"({_KEY})\s*(==|=|!=)\s*([-A-Za-z0-9_.]*)")
_EXISTS: Final = re.compile(rf"(!?)\s*({_KEY})")


def selector(text: str) -> Test:
    """A function that says whether labels match all requirements of the text, which are separated by commas.

    `key=value`, `key!=value`, `key in (a, b)`, `key notin (a, b)`, `key`, `!key`. As in Kubernetes, `!=` and `notin`
    also match labels without the key. Raises FieldError.
    """
    # Commas in parentheses separate values.
    parts = [part.strip() for part in re.split(r",(?![^()]*\))", text)]
    tests = [_requirement(part, text) for part in parts if part]
    return lambda labels: all(test(labels) for test in tests)


def _requirement(part: str, text: str) -> Test:
    if match := _SET.fullmatch(part):
        key, operator, values = match.groups()
        return _value_test(key, frozenset(value.strip() for value in values.split(",")), operator == "in")
    if match := _EQUAL.fullmatch(part):
        key, operator, value = match.groups()
        return _value_test(key, frozenset((value,)), operator != "!=")
    if match := _EXISTS.fullmatch(part):
        negated, key = match.groups()
        return lambda labels: (key in labels) != bool(negated)
    raise FieldError(
        "",
        f"{quoted(part)} in {quoted(text)} is not a label selector;"
        " write k=v, k!=v, k in (a,b), k notin (a,b), k or !k",
    )


def _value_test(key: str, values: frozenset[str], expected: bool) -> Test:
    return lambda labels: (labels.get(key) in values) == expected


def matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether labels match a LabelSelector object. An invalid selector matches none, an empty one all."""
    required = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in required.items()) and all(
        matches_expression(expression, labels) for expression in expressions
    )


def matches_expression(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether labels match an expression of a label or node selector, {key, operator, values}.

    As in Kubernetes, NotIn also matches labels without the key. Gt and Lt compare integers.
    """
    key, operator = expression.get("key", ""), str(expression.get("operator"))
    values: Sequence[str] = expression.get("values") or ()
    if operator in ("In", "NotIn"):
        return (key in labels and labels[key] in values) == (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) == (operator == "Exists")
    if operator not in ("Gt", "Lt") or len(values) != 1:
        return False
    try:
        value, bound = int(labels[key]), int(values[0])
    except (KeyError, ValueError):
        return False
    return value > bound if operator == "Gt" else value < bound
