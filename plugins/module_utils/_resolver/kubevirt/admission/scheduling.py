"""Affinity and topology spread constraints, checked as in Kubernetes (validate-k8s-utils.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..config.cluster import KubeVirt
from ..vmi.vmi import PREFERRED, REQUIRED
from . import name_errors
from .rule import INVALID, Cause, Spec, items, quoted

_UNSATISFIABLE: Final = ("DoNotSchedule", "ScheduleAnyway")
_WEIGHTS: Final = range(1, 101)
_NOT_AN_OPERATOR: Final = "not a valid selector operator"


def affinity(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateSpecAffinity, whose fields lack `affinity`."""
    affinities = spec.get("affinity") or {}
    node = affinities.get("nodeAffinity") or {}
    field = f"{path}.nodeAffinity"
    if REQUIRED in node:
        if not node[REQUIRED].get("nodeSelectorTerms"):
            yield _required(f"{field}.{REQUIRED}.nodeSelectorTerms", "must have at least one node selector term")
        for term, where in items(node[REQUIRED], f"{field}.{REQUIRED}", "nodeSelectorTerms"):
            yield from _node_term(term, where)
    for weighted, where in items(node, field, PREFERRED):
        yield from _weight(weighted, where)
        yield from _node_term(weighted.get("preference") or {}, f"{where}.preference")
    for kind in ("podAffinity", "podAntiAffinity"):
        pods, field = affinities.get(kind) or {}, f"{path}.{kind}"
        for term, where in items(pods, field, REQUIRED):
            yield from _pod_term(term, where)
        for weighted, where in items(pods, field, PREFERRED):
            yield from _weight(weighted, where)
            yield from _pod_term(weighted.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm")


def topology_spread(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateSpecTopologySpreadConstraints."""
    constraints = spec.get("topologySpreadConstraints", ())
    for index, (constraint, field) in enumerate(items(spec, path, "topologySpreadConstraints")):
        skew, key = constraint.get("maxSkew", 0), constraint.get("topologyKey", "")
        action = constraint.get("whenUnsatisfiable", "")
        if skew <= 0:
            yield from _invalid(f"{field}.maxSkew", skew, "must be greater than zero")
        if key:
            yield from _invalid(f"{field}.topologyKey", key, *name_errors.qualified(key))
        else:
            yield _required(f"{field}.topologyKey", "can not be empty")
        if action not in _UNSATISFIABLE:
            supported = ", ".join(map(quoted, _UNSATISFIABLE))
            message = f"Unsupported value: {quoted(action)}: supported values: {supported}"
            yield _error(f"{field}.whenUnsatisfiable", message)
        # The field lacks the constraint's index.
        yield from _label_selector(constraint.get("labelSelector"), f"{path}.topologySpreadConstraints.labelSelector")
        for other in constraints[index + 1 :]:
            if (other.get("topologyKey", ""), other.get("whenUnsatisfiable", "")) == (key, action):
                pair = f"{field}.{{topologyKey, whenUnsatisfiable}}"
                yield _error(pair, f'Duplicate value: "{{{key}, {action}}}"')
                break


def _weight(weighted: Spec, field: str) -> Iterator[Cause]:
    weight = weighted.get("weight", 0)
    if weight not in _WEIGHTS:
        yield from _invalid(f"{field}.weight", weight, "must be in the range 1-100")


def _node_term(term: Spec, field: str) -> Iterator[Cause]:
    """ValidateNodeSelectorTerm."""
    for requirement, where in items(term, field, "matchExpressions"):
        if requirement.get("operator") not in ("Gt", "Lt"):
            yield from _operator(requirement, where)
        elif len(requirement.get("values", ())) != 1:
            yield _required(f"{where}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
        yield from _key(requirement, where)
    for requirement, where in items(term, field, "matchFields"):
        yield from _node_field(requirement, where)


def _node_field(requirement: Spec, field: str) -> Iterator[Cause]:
    """ValidateNodeFieldSelectorRequirement."""
    operator, values, key = (requirement.get(name) for name in ("operator", "values", "key"))
    if operator not in ("In", "NotIn"):
        yield from _invalid(f"{field}.operator", operator or "", _NOT_AN_OPERATOR)
    elif len(values or ()) != 1:
        reason = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield _required(f"{field}.values", reason)
    if key != "metadata.name":
        yield from _invalid(f"{field}.key", key or "", "not a valid field selector key")
        return
    for index, value in enumerate(values or ()):
        yield from _invalid(f"{field}.values[{index}]", value, *name_errors.dns_subdomain(value))


def _pod_term(term: Spec, field: str) -> Iterator[Cause]:
    """validatePodAffinityTerm."""
    for selector in ("labelSelector", "namespaceSelector"):
        yield from _label_selector(term.get(selector), f"{field}.{selector}")
    for namespace in term.get("namespaces", ()):
        yield from _invalid(f"{field}.namespace", namespace, *name_errors.dns_label(namespace))
    key = term.get("topologyKey", "")
    if not key:
        yield _required(f"{field}.topologyKey", "can not be empty")
    yield from _invalid(f"{field}.topologyKey", key, *name_errors.qualified(key))


def _label_selector(selector: Spec | None, field: str) -> Iterator[Cause]:
    """ValidateLabelSelector (k8s.io/apimachinery/pkg/apis/meta/v1/validation)."""
    for key, value in ((selector or {}).get("matchLabels") or {}).items():
        yield from _invalid(f"{field}.matchLabels", key, *name_errors.qualified(key))
        yield from _invalid(f"{field}.matchLabels", value, *name_errors.label_value(value))
    for requirement, where in items(selector or {}, field, "matchExpressions"):
        yield from _operator(requirement, where)
        yield from _key(requirement, where)
        for position, value in enumerate(requirement.get("values", ())):
            yield from _invalid(f"{where}.values[{position}]", value, *name_errors.label_value(value))


def _key(requirement: Spec, field: str) -> Iterator[Cause]:
    key = requirement.get("key", "")
    yield from _invalid(f"{field}.key", key, *name_errors.qualified(key))


def _operator(requirement: Spec, field: str) -> Iterator[Cause]:
    operator, values = requirement.get("operator", ""), requirement.get("values")
    if operator in ("In", "NotIn"):
        if not values:
            yield _required(f"{field}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            message = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield _error(f"{field}.values", message)
    else:
        yield from _invalid(f"{field}.operator", operator, _NOT_AN_OPERATOR)


def _invalid(field: str, value: Any, *details: str) -> Iterator[Cause]:
    """field.Invalid."""
    for detail in details:
        yield _error(field, f"Invalid value: {quoted(value)}: {detail}")


def _required(field: str, detail: str) -> Cause:
    """field.Required."""
    return _error(field, f"Required value: {detail}")


def _error(field: str, body: str) -> Cause:
    """KubeVirt reports every error of Kubernetes as an invalid value."""
    return Cause(INVALID, f"{field}: {body}", field)
