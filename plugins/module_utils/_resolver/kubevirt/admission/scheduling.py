"""Affinity and topology spread constraints, checked as in Kubernetes (validate-k8s-utils.go)."""

from __future__ import annotations

from itertools import chain
from typing import Final

from ...api.name_rules import label, label_key, label_value, quoted, subdomain
from ..vm.vmi import PREFERRED, REQUIRED
from .rows import Group, Place, Row, conforms, each, one_of, required, within
from .rule import Spec

_WITH_VALUES: Final = ("In", "NotIn")
_WITHOUT: Final = ("Exists", "DoesNotExist")
_WITH_NUMBER: Final = ("Gt", "Lt")
_NAME: Final = "metadata.name"


def _fits_operator(values: list[str] | None, place: Place) -> str:
    operator = place.entry.get("operator", "")
    if operator in _WITH_VALUES and not values:
        return f"is missing, which the operator {operator} needs; add one"
    excess = operator in _WITHOUT and values
    return f"must be empty with the operator {operator}" if excess else ""


def _is_number(values: list[str] | None, place: Place) -> str:
    wrong = place.entry.get("operator") in _WITH_NUMBER and len(values or ()) != 1
    return "must be a single number with the operators Gt and Lt" if wrong else ""


def _is_single(values: list[str] | None, place: Place) -> str:
    wrong = place.entry.get("operator") in _WITH_VALUES and len(values or ()) != 1
    return "must be a single name" if wrong else ""


def _repeats_later(_constraint: Spec, place: Place) -> str:
    pairs = [(entry.get("topologyKey", ""), entry.get("whenUnsatisfiable", "")) for entry in place.entries]
    repeated = pairs[place.index] in pairs[place.index + 1 :]
    return "has the topologyKey and whenUnsatisfiable of another entry; remove one" if repeated else ""


def _labels(labels: dict[str, str], _place: Place) -> str:
    problems = ((key, label_key(key)) for key in labels), ((value, label_value(value)) for value in labels.values())
    return next((f"{quoted(text)} {problem}" for text, problem in chain(*problems) if problem), "")


_KEY: Final = Row("key", conforms(label_key), absent=True)
_SELECTOR: Final = (  # ValidateLabelSelector (k8s.io/apimachinery/pkg/apis/meta/v1/validation)
    Row("matchLabels", _labels),
    Group(
        "matchExpressions[]",
        Row("operator", one_of(*_WITH_VALUES, *_WITHOUT), absent=True),
        Row("values", _fits_operator, absent=True),
        _KEY,
        Group("values[]", Row("", conforms(label_value))),
    ),
)
_NODE_TERM: Final = (  # ValidateNodeSelectorTerm
    Group(
        "matchExpressions[]",
        Row("operator", one_of(*_WITH_VALUES, *_WITHOUT, *_WITH_NUMBER), absent=True),
        Row("values", _fits_operator, absent=True),
        Row("values", _is_number, absent=True),
        _KEY,
    ),
    Group(  # ValidateNodeFieldSelectorRequirement
        "matchFields[]",
        Row("operator", one_of(*_WITH_VALUES), absent=True),
        Row("values", _is_single, absent=True),
        Row("key", one_of(_NAME), absent=True),
        Group(
            "",
            Group("values[]", Row("", conforms(subdomain))),
            when=lambda place: place.entry.get("key") == _NAME,
        ),
    ),
)
_POD_TERM: Final = (  # validatePodAffinityTerm
    Group("labelSelector", *_SELECTOR),
    Group("namespaceSelector", *_SELECTOR),
    Row("namespaces", each(conforms(label)), at="{entry}.namespace"),
    Row("topologyKey", conforms(label_key), absent=True),
)
_WEIGHT: Final = Row("weight", within(range(1, 101)), absent=True)


def _pods(kind: str) -> Group:
    return Group(
        f"affinity.{kind}",
        Group(f"{REQUIRED}[]", *_POD_TERM),
        Group(f"{PREFERRED}[]", _WEIGHT, Group("podAffinityTerm", *_POD_TERM)),
        field=f"{{spec}}.{kind}",
    )


RULES: Final = Group(
    "",
    # validateSpecAffinity, whose fields lack `affinity`
    Group(
        "affinity.nodeAffinity",
        Group(REQUIRED, required("nodeSelectorTerms"), Group("nodeSelectorTerms[]", *_NODE_TERM)),
        Group(f"{PREFERRED}[]", _WEIGHT, Group("preference", *_NODE_TERM)),
        field="{spec}.nodeAffinity",
    ),
    _pods("podAffinity"),
    _pods("podAntiAffinity"),
    Group(  # validateSpecTopologySpreadConstraints
        "topologySpreadConstraints[]",
        Row(
            "maxSkew",
            lambda skew, _place: f"must be 1 or more, not {skew or 0}" if (skew or 0) < 1 else "",
            absent=True,
        ),
        Row("topologyKey", conforms(label_key), absent=True),
        Row("whenUnsatisfiable", one_of("DoNotSchedule", "ScheduleAnyway"), absent=True),
        Group("labelSelector", *_SELECTOR, field="{spec}.topologySpreadConstraints.labelSelector"),
        Row("", _repeats_later, at="{entry}.{{topologyKey, whenUnsatisfiable}}"),
    ),
)
