"""Why a pod fits on no node, in a line that says what to change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...api.quantity import human_readable
from .fit import eligible, has_devices, insufficient_resources, rules, violated_rule
from .node import Node
from .node_rules import matches_node_affinity, missing_labels, unreachable_claims, untolerated_taints
from .pod_info import PodInfo
from .state import ClusterState

_SIZES: Final = ("memory", "ephemeral-storage")
_PLAIN: Final = ("cpu", "memory", "ephemeral-storage", "pods")


def problem(state: ClusterState, pod: PodInfo) -> str:
    """What keeps a pod that fits nowhere from running: what most nodes lack, and what the best node does."""
    if not state.nodes:
        return "there are no nodes"
    if pod.unbound_claim:
        return f"its claim {pod.unbound_claim} is not bound"
    if pod.devices is not None and pod.devices.missing:
        return pod.devices.missing
    reasons = [*_missing_resources(state, pod), *_missing_claimed_devices(state, pod), *_excluded_nodes(state, pod)]
    numbers = eligible(state, pod)
    best = _nearest_node(state, pod, numbers) if numbers else ""
    if best:
        reasons.append(best)
    return "; ".join(reasons)


def _missing_resources(state: ClusterState, pod: PodInfo) -> Iterator[str]:
    for name in pod.requests:
        having = sum(node.allocatable.get(name, 0) > 0 for node in state.nodes)
        if name not in _PLAIN and having < len(state.nodes):
            yield f"{having} of {len(state.nodes)} nodes {'has' if having == 1 else 'have'} {name}"


def _missing_claimed_devices(state: ClusterState, pod: PodInfo) -> Iterator[str]:
    availability = [has_devices(state, pod, number) for number in range(len(state.nodes))]
    having, unknown = availability.count(True), availability.count(None)
    if having < len(availability):
        verb = "has" if having == 1 else "have"
        yield f"{having} of {len(availability)} nodes {verb} free devices for its claims"
    if unknown:
        doubt = pod.devices.doubt if pod.devices is not None else ""
        yield f"of {unknown} it is not known: {doubt or 'only CEL can evaluate the selectors of the devices'}"


def _excluded_nodes(state: ClusterState, pod: PodInfo) -> Iterator[str]:
    """What keeps it off nodes whatever their room, and off how many; the first reason of each node."""
    reasons: dict[tuple[str, str, str], int] = {}
    for node in state.nodes:
        reason = _exclusion(node, pod)
        if reason is not None:
            reasons[reason] = reasons.get(reason, 0) + 1
    for (singular, plural, what), amount in sorted(reasons.items(), key=lambda item: -item[1]):
        yield f"{amount} of {len(state.nodes)} nodes {singular if amount == 1 else plural} {what}"


def _exclusion(node: Node, pod: PodInfo) -> tuple[str, str, str] | None:
    """What is wrong with a node whatever its room: verb of one node, verb of several, and what."""
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
    """What the node lacks that lacks the least: the fewest resources, and of these the smallest part of the request."""
    pod_rules = rules(state, pod)

    def shortage(number: int) -> tuple[int, float]:
        missing = insufficient_resources(state, pod, number)
        other = bool(violated_rule(state.nodes[number], pod_rules))
        return len(missing) + other, sum(amount / pod.requests.get(name, 1) for name, amount in missing.items())

    best = min(numbers, key=shortage)
    parts = [_amount(name, amount) for name, amount in insufficient_resources(state, pod, best).items()]
    other = violated_rule(state.nodes[best], pod_rules)
    lacks = [*parts, *([other] if other else [])]
    return f"{state.nodes[best].name} lacks {' and '.join(lacks)}" if lacks else ""


def _amount(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{human_readable(f'{amount}m', binary=False)} of cpu"
    if name in _SIZES or name.startswith("hugepages-"):
        return f"{human_readable(str(amount))} of {name}"
    return "room for another pod" if name == "pods" else f"{amount} {name}"
