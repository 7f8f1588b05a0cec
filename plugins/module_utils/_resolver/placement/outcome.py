"""What becomes of VMs in a cluster: where they fit, and what is missing where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from . import drain
from .batch import Batch
from .capacity import Sample, capacity
from .devices import Offer
from .explain import problem
from .node import Node
from .state import State
from .workload import Workload

# Of thousands of VMs on hundreds of nodes nobody reads all.
_SHOWN: Final = 20


class Asked(NamedTuple):
    """A VM to place. pod: the one that it needs; the target of a migration, if the VM runs; None if there is none,
    with a problem that says why. node: where it runs."""

    name: str
    namespace: str
    pod: Workload | None
    node: str = ""
    problem: str = ""


def running(pods: Iterable[Workload]) -> dict[tuple[str, str], Workload]:
    """The pods of running VMs by namespace and name."""
    found = {}
    for pod in pods:
        if pod.owner and pod.node and pod.vm and not pod.terminating:
            found[pod.namespace, pod.vm] = pod
    return found


def outcome(
    nodes: Sequence[Node],
    pods: Sequence[Workload],
    asked: Iterable[Asked],
    drained: Sequence[str] = (),
    namespaces: Mapping[str, Mapping[str, str]] | None = None,
    samples: Sequence[Sample] = (),
    offer: Offer | None = None,
) -> dict[str, Any]:
    """{virtual_machines, drained, instancetypes}: see the functions below and capacity.capacity.

    nodes: those that are drained are cordoned. pods: those that run. asked: placed in their order, after the guests of
    drained nodes. samples: one for each instancetype. offer: the devices for claims.
    """
    batch = Batch(State(nodes, pods, namespaces, offer))
    labels = {node.name: node.labels for node in nodes}
    moved = [_moved(batch, guest, labels[guest.node]) for guest in drain.guests(pods, drained)]
    results = [_migrated(batch, vm) if vm.node else _placed(batch, vm) for vm in asked]
    return {
        "virtual_machines": results,
        "drained": moved,
        "instancetypes": capacity(nodes, batch, samples),
    }


def _placed(batch: Batch, vm: Asked) -> dict[str, Any]:
    """{name, namespace, judged, fits, node_count, nodes, node or problem}. judged: whether it has a pod, of which
    it is known whether it fits. nodes: those it fits on before it is placed."""
    nodes, number, missing = _place(batch, vm.pod, vm.problem)
    known = _known(batch, vm.pod, number is not None)
    found = {**_head(vm), "judged": known, "fits": number is not None, **nodes}
    return {**found, **({"node": batch.state.nodes[number].name} if number is not None else {"problem": missing})}


def _migrated(batch: Batch, vm: Asked) -> dict[str, Any]:
    """{name, namespace, judged, fits, node, migration: {fits, node_count, nodes, problem}} of a VM that runs.

    The target of its migration is not placed, since guests need not migrate at once.
    """
    nodes = _fitting(batch, vm.pod)
    missing = {} if nodes["nodes"] else {"problem": problem(batch.state, vm.pod) if vm.pod else vm.problem}
    doubt = {} if vm.pod is None or _known(batch, vm.pod, bool(nodes["nodes"])) else {"judged": False}
    migration = {**doubt, "fits": bool(nodes["nodes"]), **nodes, **missing}
    return {**_head(vm), "fits": True, "node": vm.node, "migration": migration}


def _head(vm: Asked) -> dict[str, Any]:
    return {"name": vm.name, "namespace": vm.namespace, "judged": vm.pod is not None}


def _moved(batch: Batch, guest: Workload, labels: Mapping[str, str]) -> dict[str, Any]:
    """{name, namespace, node, fits, node_count, nodes, target or problem} of a guest on a drained node."""
    pod = drain.target(guest, labels)
    nodes, number, missing = _place(batch, pod)
    known = {} if _known(batch, pod, number is not None) else {"judged": False}
    name = guest.vm or guest.name
    found = {"name": name, "namespace": guest.namespace, "node": guest.node, "fits": number is not None}
    target = {"target": batch.state.nodes[number].name} if number is not None else {"problem": missing}
    return {**found, **known, **nodes, **target}


def _known(batch: Batch, pod: Workload | None, fits: bool) -> bool:
    """Whether there is an answer for a pod: some of the devices that it claims may be beyond what can be told."""
    return pod is not None and (fits or pod.devices is None or not batch.unsure(pod))


def _place(batch: Batch, pod: Workload | None, why: str = "") -> tuple[dict[str, Any], int | None, str]:
    nodes = _fitting(batch, pod)
    if pod is None:
        return nodes, None, why
    number = batch.place(pod)
    return nodes, number, "" if number is not None else problem(batch.state, pod)


def _fitting(batch: Batch, pod: Workload | None) -> dict[str, Any]:
    numbers = batch.fitting(pod) if pod is not None else []
    return {"node_count": len(numbers), "nodes": [batch.state.nodes[number].name for number in numbers[:_SHOWN]]}
