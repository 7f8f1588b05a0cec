"""The instancetypes for which a cluster has nodes, and how many more VMs of each fit now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .batch import Batch
from .explain import problem
from .node import Node
from .state import State
from .workload import Workload


class Sample(NamedTuple):
    """A VM with only an instancetype. pod: None if KubeVirt cannot render one, with the reason in `problem`."""

    name: str
    pod: Workload | None
    problem: str = ""


def capacity(nodes: Sequence[Node], batch: Batch, samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """[{name, fits, node_count, nodes_in_all, more, problem}], in order.

    fits: an empty node could run it. node_count: the number of such nodes. more: how many more such VMs fit now.
    problem: what is missing if no node could run it.
    """
    empty = Batch(State(nodes, ()))
    return [_capacity(sample, len(nodes), empty, batch) for sample in samples]


def _capacity(sample: Sample, total: int, empty: Batch, batch: Batch) -> dict[str, Any]:
    count = len(empty.fitting(sample.pod)) if sample.pod is not None else 0
    found = {"name": sample.name, "fits": count > 0, "node_count": count, "nodes_in_all": total, "more": 0}
    if sample.pod is None or not count:
        return {**found, "problem": problem(empty.state, sample.pod) if sample.pod is not None else sample.problem}
    return {**found, "more": batch.more(sample.pod)}
