"""Placing pods one after the other, as kube-scheduler would: each on the node that is left with the most free."""

from __future__ import annotations

import heapq
import json

from .cluster_state import ClusterState
from .fit import eligible, has_room, rules, violated_rule
from .scheduler_view import PodInfo


class PodPlacer:
    """Places pods on the nodes of a state.

    For pods that look alike to the scheduler and do not depend on others, the nodes are kept in order, so that
    thousands of pods on hundreds of nodes take seconds. Scores only fall while pods are placed, so a node whose score
    is still the best when it is recomputed is the best.
    """

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self._eligible: dict[str, list[int]] = {}
        # By pods that are alike: a heap of scores with the nodes.
        self._ordered: dict[str, list[tuple[float, int]]] = {}
        # By pods that are alike: (the number of placed pods at the time, the nodes with room then).
        self._roomy: dict[str, tuple[int, dict[int, None]]] = {}
        self._placed: list[int] = []

    def eligible(self, pod: PodInfo) -> list[int]:
        """The nodes that are for a pod at all; computed once for pods that are alike."""
        key = _eligibility_key(pod)
        if key not in self._eligible:
            self._eligible[key] = eligible(self.state, pod)
        return self._eligible[key]

    def fitting(self, pod: PodInfo) -> list[int]:
        """The nodes that a pod fits on now, whatever devices it claims."""
        pod_rules = rules(self.state, pod)
        return [
            node_index
            for node_index in self._nodes_with_room(pod)
            if not violated_rule(self.state.nodes[node_index], pod_rules)
        ]

    def place(self, pod: PodInfo) -> int | None:
        """The index of the node that a pod is placed on; None if it fits on none."""
        affine = pod.required("podAffinity") or pod.required("podAntiAffinity")
        if affine or pod.spread or self.state.anti_affinity_domains(pod):
            node_index = min(self.fitting(pod), key=lambda node_index: self._score(pod, node_index), default=None)
        else:
            node_index = self._best_scored(pod)
        if node_index is not None:
            self.state.place(pod, node_index)
            self._placed.append(node_index)
        return node_index

    def remaining_pods(self, pod: PodInfo) -> int:
        """How many such pods would still fit if they do not depend on others; the state stays unchanged."""
        total = 0
        for node_index in self.eligible(pod):
            available, used = self.state.nodes[node_index].allocatable, self.state.used[node_index]
            rooms = [(available.get(name, 0) - used.get(name, 0)) // amount for name, amount in pod.requests.items()]
            total += max(0, min(rooms))
        return total

    def _nodes_with_room(self, pod: PodInfo) -> dict[int, None]:
        """The nodes with room. Only nodes that got a pod since the last call are examined again."""
        key = _size_key(pod)
        candidates: dict[int, None] = dict.fromkeys(self.eligible(pod))
        checked, roomy = self._roomy.get(key, (0, candidates))
        for node_index in self._placed[checked:] if key in self._roomy else list(roomy):
            if node_index in roomy and not has_room(self.state, pod, node_index):
                del roomy[node_index]
        self._roomy[key] = (len(self._placed), roomy)
        return roomy

    def _best_scored(self, pod: PodInfo) -> int | None:
        key = _size_key(pod)
        if key not in self._ordered:
            self._ordered[key] = [(self._score(pod, node_index), node_index) for node_index in self.eligible(pod)]
            heapq.heapify(self._ordered[key])
        order = self._ordered[key]
        while order:
            _score, node_index = order[0]
            if not has_room(self.state, pod, node_index):
                heapq.heappop(order)
                continue
            scored = (self._score(pod, node_index), node_index)
            if scored == order[0]:
                return node_index
            heapq.heapreplace(order, scored)
        return None

    def _score(self, pod: PodInfo, node_index: int) -> float:
        """How full a node would be with a pod, 0 to 1; the mean of CPU and memory."""
        node, used = self.state.nodes[node_index], self.state.used[node_index]
        parts = [
            (used.get(name, 0) + pod.requests.get(name, 0)) / node.allocatable[name]
            for name in ("cpu", "memory")
            if node.allocatable.get(name)
        ]
        return sum(parts) / len(parts) if parts else 0.0


def _eligibility_key(pod: PodInfo) -> str:
    """A key that pods share if the same nodes are eligible for them."""
    node_affinity = pod.affinity.get("nodeAffinity")
    parts = [pod.node_selector, node_affinity, pod.tolerations, pod.volume_affinity, pod.unbound_claim]
    return json.dumps(parts, sort_keys=True)


def _size_key(pod: PodInfo) -> str:
    """A key that pods share if the same nodes have room for them."""
    return f"{_eligibility_key(pod)} {sorted(pod.requests.items())}"
