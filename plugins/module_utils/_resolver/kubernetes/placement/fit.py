"""On which nodes a pod fits, as kube-scheduler's filters have it, and what the others lack.

A node has its own rules (`node_rules`) and its room; other pods have affinity, anti-affinity and topology spread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...api.label_selector import matches
from .node import Node
from .node_rules import matches_node_affinity, tolerates_all, unreachable_claims
from .pod_info import PodInfo
from .state import ClusterState, Test, term_test

# Why a node is unsuitable, or "".
Rule = Callable[[Node], str]


def rules(state: ClusterState, pod: PodInfo) -> list[Rule]:
    """The rules of other pods that a node must meet; valid until the next pod is placed."""
    return [
        *_spread(state, pod),
        *_affinity(state, pod),
        *_anti_affinity(state, pod),
        *_existing_anti_affinity(state, pod),
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


def _existing_anti_affinity(state: ClusterState, pod: PodInfo) -> Iterator[Rule]:
    for topology, values in state.anti_affinity_domains(pod):
        yield _avoiding(topology, values, "pods that do not avoid it")


def _avoiding(topology: str, values: set[str], problem: str) -> Rule:
    return lambda node: problem if node.labels.get(topology) in values else ""


def _spread(state: ClusterState, pod: PodInfo) -> Iterator[Rule]:
    hard = [
        constraint
        for constraint in pod.spread
        if (constraint.get("whenUnsatisfiable") or "DoNotSchedule") == "DoNotSchedule"
    ]
    keys = [constraint.get("topologyKey", "") for constraint in hard]
    for constraint in hard:
        yield _spread_rule(state, pod, constraint, keys)


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
        return (
            f"room to spread by {topology}" if counts_by_value.get(value, 0) + self_match - minimum > max_skew else ""
        )

    return rule


def _counts(node: Node, pod: PodInfo, constraint: Mapping[str, Any]) -> bool:
    """Whether the pods of a node count, by the policies of a constraint."""
    if (constraint.get("nodeAffinityPolicy") or "Honor") == "Honor" and not matches_node_affinity(node, pod):
        return False
    return (constraint.get("nodeTaintsPolicy") or "Ignore") == "Ignore" or tolerates_all(
        node._replace(unschedulable=False), pod
    )


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
        number
        for number, node in enumerate(state.nodes)
        if tolerates_all(node, pod) and matches_node_affinity(node, pod) and not any(unreachable_claims(node, pod))
    ]


def has_room(state: ClusterState, pod: PodInfo, number: int) -> bool:
    """Whether a node has the resources, and may run one pod more."""
    node = state.nodes[number]
    if len(state.pods[number]) >= node.pods:
        return False
    used = state.used[number]
    return all(amount <= node.allocatable.get(name, 0) - used.get(name, 0) for name, amount in pod.requests.items())


def has_devices(state: ClusterState, pod: PodInfo, number: int) -> bool | None:
    """Whether a node has the devices that a pod claims; None if that is not known."""
    return pod.devices is None or state.allocator.fits(state.nodes[number], pod.devices)


def insufficient_resources(state: ClusterState, pod: PodInfo, number: int) -> dict[str, int]:
    """How much of which resource a node lacks; `pods` is 1 if it may not run another."""
    node, used = state.nodes[number], state.used[number]
    missing = {
        name: amount - (node.allocatable.get(name, 0) - used.get(name, 0)) for name, amount in pod.requests.items()
    }
    shortages = {name: amount for name, amount in missing.items() if amount > 0}
    if len(state.pods[number]) >= node.pods:
        shortages["pods"] = 1
    return shortages


def violated_rule(node: Node, pod_rules: list[Rule]) -> str:
    """What of other pods keeps a pod off a node, "" if nothing does."""
    if not pod_rules:
        return ""
    return next((reason for reason in (rule(node) for rule in pod_rules) if reason), "")
