"""Whether a node accepts a pod at all, however full it is: taints, node selector, node affinity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...api.label_selector import matches_expression
from .node import UNSCHEDULABLE, Node
from .pod_info import PodInfo


def untolerated_taints(node: Node, pod: PodInfo) -> Iterator[Mapping[str, Any]]:
    """The taints of a node that a pod does not tolerate, with that of a node that is marked as unschedulable."""
    for taint in (*node.taints, *((UNSCHEDULABLE,) if node.unschedulable else ())):
        if not any(_tolerates(toleration, taint) for toleration in pod.tolerations):
            yield taint


def tolerates_all(node: Node, pod: PodInfo) -> bool:
    return not any(untolerated_taints(node, pod))


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Equal":
        return (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(operator == "Exists")


def missing_labels(node: Node, pod: PodInfo) -> Iterator[str]:
    """The labels (`key=value`) of the node selector that a node lacks."""
    for key, value in pod.node_selector.items():
        if node.labels.get(key) != value:
            yield f"{key}={value}"


def matches_node_affinity(node: Node, pod: PodInfo) -> bool:
    """Whether node selector and required node affinity take a node."""
    if any(missing_labels(node, pod)):
        return False
    affinity = pod.affinity.get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or any(matches_term(term, node) for term in required.get("nodeSelectorTerms") or ())


def unreachable_claims(node: Node, pod: PodInfo) -> Iterator[str]:
    """The claims of a pod that cannot be reached from a node."""
    for name, selector in pod.volume_affinity:
        if not any(matches_term(term, node) for term in selector.get("nodeSelectorTerms") or ()):
            yield name


def matches_term(term: Mapping[str, Any], node: Node) -> bool:
    labels, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not labels and not fields:
        return False
    own = {"metadata.name": node.name}
    return all(matches_expression(expression, node.labels) for expression in labels) and all(
        matches_expression(expression, own) for expression in fields
    )
