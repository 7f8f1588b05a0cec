"""The nodes of a cluster and what runs on them, as pods are placed one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..api.label_selector import matches
from .devices import Offer
from .node import Counts, Node
from .workload import Workload

Test = Callable[[Workload], bool]


class State:
    """Nodes by index, with what is used of each. Nothing but `place` changes it.

    namespaces: the labels of the namespaces by name, for affinity that selects by them. offer: the devices for claims,
    of which those of the pods are taken.
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        pods: Iterable[Workload],
        namespaces: Mapping[str, Mapping[str, str]] | None = None,
        offer: Offer | None = None,
    ) -> None:
        self.nodes = list(nodes)
        self.namespaces = namespaces or {}
        self.used: list[Counts] = [{} for _node in self.nodes]
        self.pods: list[list[Workload]] = [[] for _node in self.nodes]
        self._counts: dict[str, tuple[Test, list[int]]] = {}
        self._repellers: dict[str, tuple[Test, str, list[int]]] = {}
        index = {node.name: number for number, node in enumerate(self.nodes)}
        for pod in pods:
            if pod.node in index:
                self.place(pod._replace(devices=None), index[pod.node])
        self.offer = offer or Offer((), set())

    def place(self, pod: Workload, number: int) -> None:
        """Lets a pod run on the node with the number."""
        used = self.used[number]
        for name, amount in pod.requests.items():
            used[name] = used.get(name, 0) + amount
        self.pods[number].append(pod)
        if pod.devices is not None:
            self.offer.take(self.nodes[number], pod.devices)
        for test, counts in self._counts.values():
            counts[number] += test(pod)
        for term in pod.required("podAntiAffinity"):
            key = f"{pod.namespace} {_key(term)}"
            if key not in self._repellers:
                test = term_test(term, pod.namespace, self.namespaces)
                self._repellers[key] = (test, term.get("topologyKey", ""), [0] * len(self.nodes))
            self._repellers[key][2][number] += 1

    def count(self, key: str, test: Test) -> list[int]:
        """How many pods pass a test, by node. key: the same for the same test."""
        if key not in self._counts:
            self._counts[key] = (test, [sum(map(test, pods)) for pods in self.pods])
        return self._counts[key][1]

    def domains(self, topology: str, counts: list[int]) -> dict[str, int]:
        """The sums of counts by the value of a topology label; nodes without the label do not count."""
        found: dict[str, int] = {}
        for node, amount in zip(self.nodes, counts):
            value = node.labels.get(topology)
            if value is not None:
                found[value] = found.get(value, 0) + amount
        return found

    def repelled(self, pod: Workload) -> list[tuple[str, set[str]]]:
        """The values of topology labels (key, values) of nodes with a pod whose anti-affinity excludes this pod."""
        found = []
        for test, topology, counts in self._repellers.values():
            if test(pod):
                values = {value for value, amount in self.domains(topology, counts).items() if amount}
                found.append((topology, values))
        return found


def term_test(term: Mapping[str, Any], namespace: str, namespaces: Mapping[str, Mapping[str, str]]) -> Test:
    """Whether a pod is one of those that a term of pod affinity means. namespace: of the pod that has the term."""
    selector, spaces = term.get("labelSelector"), term.get("namespaceSelector")
    named = set(term.get("namespaces") or ()) or (set() if spaces is not None else {namespace})

    def test(pod: Workload) -> bool:
        if selector is None or not matches(selector, pod.labels):
            return False
        if pod.namespace in named:
            return True
        return spaces is not None and matches(spaces, namespaces.get(pod.namespace) or {})

    return test


def _key(term: Mapping[str, Any]) -> str:
    return json.dumps(term, sort_keys=True)
