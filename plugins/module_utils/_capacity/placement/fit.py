"""On which nodes a pod fits, as kube-scheduler's filters have it, and what the others lack, in a line for users.

A node has its own rules (`objects`) and its room; other pods have affinity, anti-affinity and topology spread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..._resolver.api.label_selector import matches
from ..._resolver.api.quantity import human_readable
from .objects import (
    Node,
    PodInfo,
    matches_node_affinity,
    missing_labels,
    tolerates_all,
    unreachable_claims,
    untolerated_taints,
)
from .state import ClusterState, Test, term_test

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
        skew = counts_by_value.get(value, 0) + self_match - minimum
        return f"room to spread by {topology}" if skew > max_skew else ""

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
        node_index
        for node_index, node in enumerate(state.nodes)
        if tolerates_all(node, pod) and matches_node_affinity(node, pod) and not any(unreachable_claims(node, pod))
    ]


def has_room(state: ClusterState, pod: PodInfo, node_index: int) -> bool:
    """Whether a node has the resources, and may run one pod more."""
    node = state.nodes[node_index]
    if len(state.pods[node_index]) >= node.pods:
        return False
    used = state.used[node_index]
    return all(amount <= node.allocatable.get(name, 0) - used.get(name, 0) for name, amount in pod.requests.items())


def has_devices(state: ClusterState, pod: PodInfo, node_index: int) -> bool | None:
    """Whether a node has the devices that a pod claims; None if that is not known."""
    return pod.devices is None or state.allocator.fits(state.nodes[node_index], pod.devices)


def insufficient_resources(state: ClusterState, pod: PodInfo, node_index: int) -> dict[str, int]:
    """How much of which resource a node lacks; `pods` is 1 if it may not run another."""
    node, used = state.nodes[node_index], state.used[node_index]
    missing = {
        name: amount - (node.allocatable.get(name, 0) - used.get(name, 0)) for name, amount in pod.requests.items()
    }
    shortages = {name: amount for name, amount in missing.items() if amount > 0}
    if len(state.pods[node_index]) >= node.pods:
        shortages["pods"] = 1
    return shortages


def shortage_text(state: ClusterState, pod: PodInfo, node_index: int) -> str:
    """``2 of cpu and 1Gi of memory``: what a node lacks of resources; "" if it has enough."""
    missing = insufficient_resources(state, pod, node_index)
    return " and ".join(_amount(name, amount) for name, amount in missing.items())


def violated_rule(node: Node, pod_rules: list[Rule]) -> str:
    """The rule of other pods that keeps a pod off a node, in words; "" if none does."""
    return next(filter(None, (rule(node) for rule in pod_rules)), "")


_SIZES: Final = ("memory", "ephemeral-storage")
_PLAIN: Final = ("cpu", "memory", "ephemeral-storage", "pods")


def problem(state: ClusterState, pod: PodInfo) -> str:
    """The reason why a pod fits nowhere: what most nodes lack, and what the nearest node lacks."""
    if not state.nodes:
        return "there are no nodes"
    if pod.unbound_claim:
        return f"its claim {pod.unbound_claim} is not bound"
    if pod.devices is not None and pod.devices.missing:
        return pod.devices.missing
    reasons = [*_missing_resources(state, pod), *_missing_claimed_devices(state, pod), *_excluded_nodes(state, pod)]
    numbers = eligible(state, pod)
    best = _nearest_node(state, pod, numbers) if numbers else ""
    return "; ".join([*reasons, *filter(None, [best])])


def _missing_resources(state: ClusterState, pod: PodInfo) -> Iterator[str]:
    for name in pod.requests:
        having = sum(node.allocatable.get(name, 0) > 0 for node in state.nodes)
        if name not in _PLAIN and having < len(state.nodes):
            yield f"{having} of {len(state.nodes)} nodes {'has' if having == 1 else 'have'} {name}"


def _missing_claimed_devices(state: ClusterState, pod: PodInfo) -> Iterator[str]:
    availability = [has_devices(state, pod, node_index) for node_index in range(len(state.nodes))]
    having, unknown = availability.count(True), availability.count(None)
    if having < len(availability):
        verb = "has" if having == 1 else "have"
        yield f"{having} of {len(availability)} nodes {verb} free devices for its claims"
    if unknown:
        doubt = pod.devices.doubt if pod.devices is not None else ""
        yield f"of {unknown} it is not known: {doubt or 'only CEL can evaluate the selectors of the devices'}"


def _excluded_nodes(state: ClusterState, pod: PodInfo) -> Iterator[str]:
    """The reasons that exclude nodes, other than lack of room, with the number of nodes; one reason for each node."""
    reasons: dict[tuple[str, str, str], int] = {}
    for node in state.nodes:
        reason = exclusion(node, pod)
        if reason is not None:
            reasons[reason] = reasons.get(reason, 0) + 1
    for (singular, plural, what), amount in sorted(reasons.items(), key=lambda item: -item[1]):
        yield f"{amount} of {len(state.nodes)} nodes {singular if amount == 1 else plural} {what}"


def exclusion(node: Node, pod: PodInfo) -> tuple[str, str, str] | None:
    """Why a node is excluded other than by lack of room: (verb for one node, verb for several nodes, the reason)."""
    for label in missing_labels(node, pod):
        return "lacks", "lack", f"the label {label}"
    if not matches_node_affinity(node, pod):
        return "is", "are", "not in its node affinity"
    for claim in unreachable_claims(node, pod):
        return "does", "do", f"not reach the volume of its claim {claim}"
    for taint in untolerated_taints(node, pod):
        value = f"={taint['value']}" if taint.get("value") else ""
        return "has", "have", f"the taint {taint.get('key', '')}{value}:{taint.get('effect', '')}"
    return None


def _nearest_node(state: ClusterState, pod: PodInfo, numbers: list[int]) -> str:
    """The node that lacks the fewest resources and the smallest part of the request, with what it lacks, in words."""
    pod_rules = rules(state, pod)

    def shortage(node_index: int) -> tuple[int, float]:
        missing = insufficient_resources(state, pod, node_index)
        other = bool(violated_rule(state.nodes[node_index], pod_rules))
        return len(missing) + other, sum(amount / pod.requests.get(name, 1) for name, amount in missing.items())

    best = min(numbers, key=shortage)
    lacks = list(filter(None, (shortage_text(state, pod, best), violated_rule(state.nodes[best], pod_rules))))
    return f"{state.nodes[best].name} lacks {' and '.join(lacks)}" if lacks else ""


def _amount(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{human_readable(f'{amount}m', binary=False)} of cpu"
    if name in _SIZES or name.startswith("hugepages-"):
        return f"{human_readable(str(amount))} of {name}"
    return "room for another pod" if name == "pods" else f"{amount} {name}"
