"""The reasons that keep a waiting pod off each node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from ..._resolver.api.manifest import Manifest
from .fit import exclusion, shortage_text, violated_rule
from .fit import rules as rules_of
from .objects import Node, PodInfo, from_manifest, is_over, node
from .state import ClusterState

_SHOWN: Final = 20


def node_reasons(nodes: Sequence[Manifest], pods: Sequence[Manifest]) -> Callable[[Manifest], list[dict[str, Any]]]:
    """A function from a pod to [{reason, node_count, nodes}]. pods: the Pods of all namespaces.

    reason: what the nodes lack, or why they are not for the pod; "" if nothing that is known here keeps it off: volumes
    and claims of devices are left out. nodes: the names of the first twenty. The most common reason is first.
    """
    state = ClusterState(map(node, nodes), [from_manifest(pod) for pod in pods if not is_over(pod)])
    return partial(_reasons, state)


def _reasons(state: ClusterState, pod: Manifest) -> list[dict[str, Any]]:
    info = from_manifest(pod)
    rules = rules_of(state, info)
    names: dict[str, list[str]] = {}
    for index, item in enumerate(state.nodes):
        lacks = shortage_text(state, info, index) or violated_rule(item, rules)
        names.setdefault(_excluded(item, info) or (f"lacks {lacks}" if lacks else ""), []).append(item.name)
    ordered = sorted(names.items(), key=lambda group: -len(group[1]))
    return [{"reason": reason, "node_count": len(found), "nodes": found[:_SHOWN]} for reason, found in ordered]


def _excluded(item: Node, pod: PodInfo) -> str:
    """Why a node is not for a pod at all; "" if it is."""
    excluded = exclusion(item, pod)
    return f"{excluded[0]} {excluded[2]}" if excluded else ""
