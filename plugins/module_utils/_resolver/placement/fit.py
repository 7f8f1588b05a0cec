"""On which nodes a pod fits, as kube-scheduler's filters have it, and what the others lack."""

from __future__ import annotations

from .node import Node
from .node_rules import is_selected, tolerates_all, unreached
from .pod_rules import Rule
from .state import State
from .workload import Workload


def eligible(state: State, pod: Workload) -> list[int]:
    """The nodes that are for the pod at all, however full they are."""
    if pod.waits_for:
        return []
    return [
        number
        for number, node in enumerate(state.nodes)
        if tolerates_all(node, pod) and is_selected(node, pod) and not any(unreached(node, pod))
    ]


def has_room(state: State, pod: Workload, number: int) -> bool:
    """Whether a node has the resources, and may run one pod more."""
    node = state.nodes[number]
    if len(state.pods[number]) >= node.pods:
        return False
    used = state.used[number]
    return all(amount <= node.allocatable.get(name, 0) - used.get(name, 0) for name, amount in pod.requests.items())


def has_devices(state: State, pod: Workload, number: int) -> bool | None:
    """Whether a node has the devices that a pod claims; None if that is not known."""
    return pod.devices is None or state.offer.fits(state.nodes[number], pod.devices)


def lacking(state: State, pod: Workload, number: int) -> dict[str, int]:
    """How much of which resource a node lacks; `pods` is 1 if it may not run another."""
    node, used = state.nodes[number], state.used[number]
    missing = {
        name: amount - (node.allocatable.get(name, 0) - used.get(name, 0)) for name, amount in pod.requests.items()
    }
    found = {name: amount for name, amount in missing.items() if amount > 0}
    if len(state.pods[number]) >= node.pods:
        found["pods"] = 1
    return found


def obstacle(node: Node, held: list[Rule]) -> str:
    """What of other pods keeps a pod off a node, "" if nothing does."""
    if not held:
        return ""
    return next((found for found in (rule(node) for rule in held) if found), "")
