"""The targets of guests on drained nodes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ..api.tree import copy
from ..pod.affinity import HOSTNAME, OBSOLETE_MODEL, keep_apart
from ..pod.labels import CREATED_BY
from ..pod.migration import like_source
from .workload import Workload


def guests(pods: Iterable[Workload], nodes: Iterable[str]) -> list[Workload]:
    """The pods of guests on the nodes."""
    drained = set(nodes)
    return [pod for pod in pods if pod.owner and pod.node in drained and not pod.terminating]


def target(source: Workload, labels: Mapping[str, str]) -> Workload:
    """The target pod of a running guest's migration. labels: of its node."""
    affinity = copy(dict(source.affinity))
    host_model = OBSOLETE_MODEL in json.dumps(affinity.get("nodeAffinity") or {})
    keep_apart(affinity, {"labelSelector": {"matchLabels": {CREATED_BY: source.owner}}, "topologyKey": HOSTNAME})
    selector = like_source(source.node_selector, labels, source.node_selector if host_model else None)
    return source._replace(node_selector=selector, affinity=affinity, node="")
