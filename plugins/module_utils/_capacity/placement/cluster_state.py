"""The nodes of a cluster and what runs on them, as pods are placed one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Optional

from ..._resolver.api.label_selector import matches
from .scheduler_view import Counts, Node, PodInfo

Test = Callable[[PodInfo], bool]
# Key and value, or None for any.
Label = Optional[tuple[str, str]]


class ClusterState:
    """Nodes by index, with what is used of each. Only `place` changes it.

    namespaces: the labels of the namespaces by name, for affinity that selects by them.
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        pods: Iterable[PodInfo],
        namespaces: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.nodes = list(nodes)
        self.namespaces = namespaces or {}
        self.used: list[Counts] = [{} for _node in self.nodes]
        # By a label without which a pod does not pass the test: a migration needs only the pods of its own VM.
        self._labelled: dict[Label, list[tuple[int, PodInfo]]] = {}
        self._counts: dict[Label, dict[str, tuple[Test, list[int]]]] = {}
        self._anti_affinity_terms: dict[Label, dict[str, tuple[Test, str, list[int]]]] = {}
        index = {node.name: node_index for node_index, node in enumerate(self.nodes)}
        for pod in pods:
            if pod.node in index:
                self.place(pod, index[pod.node])

    def place(self, pod: PodInfo, node_index: int) -> None:
        """Lets a pod run on a node."""
        used = self.used[node_index]
        for name, amount in pod.requests.items():
            used[name] = used.get(name, 0) + amount
        for label in _possible_labels(pod):
            self._labelled.setdefault(label, []).append((node_index, pod))
            for test, counts in self._counts.get(label, {}).values():
                counts[node_index] += test(pod)
        for term in pod.required("podAntiAffinity"):
            key = f"{pod.namespace} {json.dumps(term, sort_keys=True)}"
            terms = self._anti_affinity_terms.setdefault(_required_label(term.get("labelSelector")), {})
            if key not in terms:
                test = term_test(term, pod.namespace, self.namespaces)
                terms[key] = (test, term.get("topologyKey", ""), [0] * len(self.nodes))
            terms[key][2][node_index] += 1

    def count(self, key: str, test: Test, selector: Mapping[str, Any] | None) -> list[int]:
        """The number of pods on each node that pass a test. key: identifies the test. selector: matches all pods that
        pass.
        """
        label = _required_label(selector)
        cached = self._counts.setdefault(label, {})
        if key not in cached:
            counts = [0] * len(self.nodes)
            for node_index, pod in self._labelled.get(label, ()):
                counts[node_index] += test(pod)
            cached[key] = (test, counts)
        return cached[key][1]

    def domains(self, topology: str, counts: list[int]) -> dict[str, int]:
        """The sums of counts by the value of a topology label; nodes without the label do not count."""
        sums: dict[str, int] = {}
        for node, amount in zip(self.nodes, counts):
            value = node.labels.get(topology)
            if value is not None:
                sums[value] = sums.get(value, 0) + amount
        return sums

    def anti_affinity_domains(self, pod: PodInfo) -> list[tuple[str, set[str]]]:
        """The values of topology labels (key, values) of nodes with a pod whose anti-affinity excludes this pod."""
        excluded = []
        for label in _possible_labels(pod):
            for test, topology, counts in self._anti_affinity_terms.get(label, {}).values():
                if test(pod):
                    values = {value for value, amount in self.domains(topology, counts).items() if amount}
                    excluded.append((topology, values))
        return excluded


def _required_label(selector: Mapping[str, Any] | None) -> Label:
    """A label of all pods that match a selector; None if it names none."""
    labels = ((selector or {}).get("matchLabels") or {}).items()
    return next(((key, value) for key, value in labels if isinstance(value, str)), None)


def _possible_labels(pod: PodInfo) -> Iterator[Label]:
    """The labels that `_required_label` may return for the selectors that match a pod."""
    yield None
    yield from ((key, value) for key, value in pod.labels.items() if isinstance(value, str))


def term_test(term: Mapping[str, Any], namespace: str, namespaces: Mapping[str, Mapping[str, str]]) -> Test:
    """The test whether a term of pod affinity selects a pod. namespace: the namespace of the pod that has the term."""
    selector, spaces = term.get("labelSelector"), term.get("namespaceSelector")
    named = set(term.get("namespaces") or ()) or (set() if spaces is not None else {namespace})

    def test(pod: PodInfo) -> bool:
        if selector is None or not matches(selector, pod.labels):
            return False
        return pod.namespace in named or (spaces is not None and matches(spaces, namespaces.get(pod.namespace) or {}))

    return test
