"""Whether a node accepts a pod at all, however full it is: taints, node selector, node affinity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...api.label_selector import matches_expression
from .node import UNSCHEDULABLE, Node
from .workload import Workload


def repelling(node: Node, workload: Workload) -> Iterator[Mapping[str, Any]]:
    """The taints of a node that a pod does not tolerate, with that of a node that is marked as unschedulable."""
    for taint in (*node.taints, *((UNSCHEDULABLE,) if node.closed else ())):
        if not any(_tolerates(toleration, taint) for toleration in workload.tolerations):
            yield taint


def tolerates_all(node: Node, workload: Workload) -> bool:
    return not any(repelling(node, workload))


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Equal":
        return (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(operator == "Exists")


def unselected(node: Node, workload: Workload) -> Iterator[str]:
    """The labels (`key=value`) of the node selector that a node lacks."""
    for key, value in workload.node_selector.items():
        if node.labels.get(key) != value:
            yield f"{key}={value}"


def is_selected(node: Node, workload: Workload) -> bool:
    """Whether node selector and required node affinity take a node."""
    if any(unselected(node, workload)):
        return False
    affinity = workload.affinity.get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or any(holds(term, node) for term in required.get("nodeSelectorTerms") or ())


def unreachable_claims(node: Node, workload: Workload) -> Iterator[str]:
    """The claims of a pod that cannot be reached from a node."""
    for name, selector in workload.volume_affinity:
        if not any(holds(term, node) for term in selector.get("nodeSelectorTerms") or ()):
            yield name


def holds(term: Mapping[str, Any], node: Node) -> bool:
    labels, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not labels and not fields:
        return False
    own = {"metadata.name": node.name}
    return all(matches_expression(expression, node.labels) for expression in labels) and all(
        matches_expression(expression, own) for expression in fields
    )
