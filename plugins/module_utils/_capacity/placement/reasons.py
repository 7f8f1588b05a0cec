"""The reasons that keep a pod off nodes, in words for users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ..._resolver.api.manifest import Manifest
from ..._resolver.api.quantity import human_readable
from ..pod.amounts import HUGE_PAGES, PLAIN
from . import scheduler_view
from .cluster_state import ClusterState
from .fit import eligible, violated_rule
from .fit import rules as rules_of
from .scheduler_view import Node, PodInfo

# Results name at most this many nodes.
SHOWN: Final = 20
_PLURAL: Final = {"lacks": "lack", "is": "are", "does": "do", "has": "have"}


def node_reasons(nodes: Sequence[Manifest], pods: Sequence[Manifest]) -> Callable[[Manifest], list[dict[str, Any]]]:
    """A function from a pod to [{reasons, node_count, nodes}]. pods: the Pods of all namespaces.

    reasons: all that the nodes lack, and why they are not for the pod; empty if nothing that is known here keeps it
    off: volumes and claims of devices are left out. nodes: the names of the first ones. The most common reasons are
    first.
    """
    infos = map(scheduler_view.from_manifest, pods)
    state = ClusterState(map(scheduler_view.node, nodes), [info for info in infos if not info.ended])

    def reasons(pod: Manifest) -> list[dict[str, Any]]:
        info = scheduler_view.from_manifest(pod)
        rules = rules_of(state, info)
        names: dict[tuple[str, ...], list[str]] = {}
        for index, node in enumerate(state.nodes):
            lacks = (_shortage_text(state, info, index), violated_rule(node, rules))
            found = (*_exclusions(node, info), *(f"lacks {text}" for text in lacks if text))
            names.setdefault(found, []).append(node.name)
        ordered = sorted(names.items(), key=lambda group: -len(group[1]))
        return [{"reasons": list(all_), "node_count": len(on), "nodes": on[:SHOWN]} for all_, on in ordered]

    return reasons


def problem(state: ClusterState, pod: PodInfo, source: str = "") -> str:
    """The reason why a pod fits nowhere: what most nodes lack, and what the nearest node lacks.

    source: the node that the guest of the pod is to leave, "" for none.
    """
    if not state.nodes:
        return "there are no nodes"
    if pod.unbound_claim:
        return f"its claim {pod.unbound_claim} is not bound"
    excluded = Counter(filter(None, (_exclusion(node, pod) for node in state.nodes))).most_common()
    reasons = [
        *_missing_resources(state, pod),
        *(_some_nodes(state, amount, reason) for reason, amount in excluded),
        _nearest_node(state, pod, source),
    ]
    return "; ".join(filter(None, reasons))


def _some_nodes(state: ClusterState, amount: int, reason: str) -> str:
    """``2 of 3 nodes lack the label x``. reason: of one node, such as ``lacks the label x``."""
    verb, rest = reason.split(" ", 1)
    return f"{amount} of {len(state.nodes)} nodes {verb if amount == 1 else _PLURAL[verb]} {rest}"


def _missing_resources(state: ClusterState, pod: PodInfo) -> Iterator[str]:
    """The devices and huge pages that not every node has."""
    for name in pod.requests:
        having = sum(node.allocatable.get(name, 0) > 0 for node in state.nodes)
        if name not in (*PLAIN, "pods") and having < len(state.nodes):
            yield _some_nodes(state, having, f"has {name}")


def _exclusion(node: Node, pod: PodInfo) -> str:
    """The first reason why a node is excluded other than by lack of room; "" if it is not."""
    return next(_exclusions(node, pod), "")


def _exclusions(node: Node, pod: PodInfo) -> Iterator[str]:
    for label in scheduler_view.missing_labels(node, pod):
        yield f"lacks the label {label}"
    if not scheduler_view.matches_required_affinity(node, pod):
        yield "is not in its node affinity"
    for claim in scheduler_view.unreachable_claims(node, pod):
        yield f"does not reach the volume of its claim {claim}"
    for taint in scheduler_view.untolerated_taints(node, pod):
        value = f"={taint['value']}" if taint.get("value") else ""
        yield f"has the taint {taint.get('key', '')}{value}:{taint.get('effect', '')}"


def _nearest_node(state: ClusterState, pod: PodInfo, source: str) -> str:
    """The node that lacks the fewest resources and the smallest part of the request, with what it lacks, in words.

    It is the source only if there is no other: that lacks nothing but distance from the guest itself.
    """
    pod_rules = rules_of(state, pod)

    def distance(node_index: int) -> tuple[bool, int, float]:
        node, missing = state.nodes[node_index], _shortages(state, pod, node_index)
        other = bool(violated_rule(node, pod_rules))
        parts = (amount / pod.requests[name] for name, amount in missing.items())
        return node.name == source, len(missing) + other, sum(parts)

    best = min(eligible(state, pod), key=distance, default=None)
    if best is None:
        return ""
    lacks = [*filter(None, (_shortage_text(state, pod, best), violated_rule(state.nodes[best], pod_rules)))]
    return f"{state.nodes[best].name} lacks {' and '.join(lacks)}" if lacks else ""


def _shortages(state: ClusterState, pod: PodInfo, node_index: int) -> dict[str, int]:
    """How much of which resource a node lacks."""
    node, used = state.nodes[node_index], state.used[node_index]
    missing = {
        name: amount - (node.allocatable.get(name, 0) - used.get(name, 0)) for name, amount in pod.requests.items()
    }
    return {name: amount for name, amount in missing.items() if amount > 0}


def _shortage_text(state: ClusterState, pod: PodInfo, node_index: int) -> str:
    """``2 of cpu and 1Gi of memory``: what a node lacks of resources; "" if it has enough."""
    return " and ".join(_amount(name, amount) for name, amount in _shortages(state, pod, node_index).items())


def _amount(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{human_readable(f'{amount}m', binary=False)} of cpu"
    if name in PLAIN or name.startswith(HUGE_PAGES):
        return f"{human_readable(str(amount))} of {name}"
    return "room for another pod" if name == "pods" else f"{amount} {name}"
