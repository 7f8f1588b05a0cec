"""On which nodes a pod fits, as kube-scheduler's filters have it.

A node has its own rules (`objects`) and its room; other pods have affinity, anti-affinity and topology spread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..._resolver.api.label_selector import matches
from .cluster_state import ClusterState, Test, term_test
from .scheduler_view import Node, PodInfo, matches_node_affinity, unreachable_claims, untolerated_taints

# Why a node is unsuitable, or "".
Rule = Callable[[Node], str]


def rules(state: ClusterState, pod: PodInfo) -> list[Rule]:
    """The rules of other pods that a node must meet; valid until the next pod is placed."""
    return [
        *_spread(state, pod),
        *_affinity(state, pod),
        *_anti_affinity(state, pod),
        *(_avoiding(key, values, "pods that do not avoid it") for key, values in state.anti_affinity_domains(pod)),
    ]


def _affinity(state: ClusterState, pod: PodInfo) -> Iterator[Rule]:
    terms = pod.required("podAffinity")
    if not terms:
        return
    tests = [term_test(term, pod.namespace, state.namespaces) for term in terms]
    selector = terms[0].get("labelSelector")
    counts = state.count(_key("affinity", pod, terms), lambda other: all(test(other) for test in tests), selector)
    domains = [(term.get("topologyKey", ""), state.domains(term.get("topologyKey", ""), counts)) for term in terms]
    # The first of several pods with affinity to each other may run anywhere.
    is_first = not any(any(counts_by_value.values()) for _topology, counts_by_value in domains) and all(
        test(pod) for test in tests
    )

    def rule(node: Node) -> str:
        for topology, counts_by_value in domains:
            value = node.labels.get(topology)
            if value is None or not (is_first or counts_by_value.get(value)):
                return "pods that it must run beside"
        return ""

    yield rule


def _anti_affinity(state: ClusterState, pod: PodInfo) -> Iterator[Rule]:
    for term in pod.required("podAntiAffinity"):
        test = term_test(term, pod.namespace, state.namespaces)
        topology = term.get("topologyKey", "")
        counts = state.count(_key("affinity", pod, [term]), test, term.get("labelSelector"))
        domains = state.domains(topology, counts)
        yield _avoiding(topology, {value for value, amount in domains.items() if amount}, "distance from other pods")


def _avoiding(topology: str, values: set[str], problem: str) -> Rule:
    return lambda node: problem if node.labels.get(topology) in values else ""


def _spread(state: ClusterState, pod: PodInfo) -> Iterator[Rule]:
    hard = [
        constraint
        for constraint in pod.spread
        if (constraint.get("whenUnsatisfiable") or "DoNotSchedule") == "DoNotSchedule"
    ]
    keys = [constraint.get("topologyKey", "") for constraint in hard]
    yield from (_spread_rule(state, pod, constraint, keys) for constraint in hard)


def _spread_rule(state: ClusterState, pod: PodInfo, constraint: Mapping[str, Any], keys: list[str]) -> Rule:
    topology, max_skew = constraint.get("topologyKey", ""), constraint.get("maxSkew", 1)
    selector = _selector(constraint, pod)
    counts = state.count(_key(f"spread {topology}", pod, [selector]), _spread_test(selector, pod.namespace), selector)
    counts_by_value: dict[str, int] = {}
    for node, amount in zip(state.nodes, counts):
        if all(key in node.labels for key in keys) and _counts(node, pod, constraint):
            counts_by_value[node.labels[topology]] = counts_by_value.get(node.labels[topology], 0) + amount
    enough = len(counts_by_value) >= (constraint.get("minDomains") or 1)
    minimum = min(counts_by_value.values()) if enough else 0
    self_match = selector is not None and matches(selector, pod.labels)

    def rule(node: Node) -> str:
        value = node.labels.get(topology)
        if value is None:
            return f"the label {topology} of its topology spread"
        skew = counts_by_value.get(value, 0) + self_match - minimum
        return f"room to spread by {topology}" if skew > max_skew else ""

    return rule


def _counts(node: Node, pod: PodInfo, constraint: Mapping[str, Any]) -> bool:
    """Whether the pods of a node count, by the policies of a constraint."""
    if (constraint.get("nodeAffinityPolicy") or "Honor") == "Honor" and not matches_node_affinity(node, pod):
        return False
    ignores_taints = (constraint.get("nodeTaintsPolicy") or "Ignore") == "Ignore"
    return ignores_taints or not any(untolerated_taints(node._replace(unschedulable=False), pod))


def _selector(constraint: Mapping[str, Any], pod: PodInfo) -> Mapping[str, Any] | None:
    """The selector of a constraint, with the API server's additions for matchLabelKeys."""
    selector: Mapping[str, Any] | None = constraint.get("labelSelector")
    added = [
        {"key": key, "operator": "In", "values": [pod.labels[key]]}
        for key in constraint.get("matchLabelKeys") or ()
        if key in pod.labels
    ]
    if selector is None or not added:
        return selector
    return {**selector, "matchExpressions": [*(selector.get("matchExpressions") or ()), *added]}


def _spread_test(selector: Mapping[str, Any] | None, namespace: str) -> Test:
    # An empty selector matches the pod itself, but no other.
    if not selector or not any(selector.values()):
        return lambda other: False
    return lambda other: other.namespace == namespace and not other.terminating and matches(selector, other.labels)


def _key(kind: str, pod: PodInfo, terms: Any) -> str:
    return f"{kind} {pod.namespace} {json.dumps(terms, sort_keys=True)}"


def eligible(state: ClusterState, pod: PodInfo) -> list[int]:
    """The nodes that are for the pod at all, however full they are."""
    if pod.unbound_claim:
        return []
    return [
        node_index
        for node_index, node in enumerate(state.nodes)
        if not any(untolerated_taints(node, pod))
        and matches_node_affinity(node, pod)
        and not any(unreachable_claims(node, pod))
    ]


def has_room(state: ClusterState, pod: PodInfo, node_index: int) -> bool:
    """Whether a node has the resources."""
    node, used = state.nodes[node_index], state.used[node_index]
    return all(amount <= node.allocatable.get(name, 0) - used.get(name, 0) for name, amount in pod.requests.items())


def violated_rule(node: Node, pod_rules: list[Rule]) -> str:
    """The rule of other pods that keeps a pod off a node, in words; "" if none does."""
    return next(filter(None, (rule(node) for rule in pod_rules)), "")
