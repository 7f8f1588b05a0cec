"""A node, as kube-scheduler sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ...api.quantity import Quantity, parse

# Amounts as kube-scheduler counts them: CPU in thousandths, others in whole units; both rounded up.
Counts = dict[str, int]

_NANOS_PER_MILLI: Final = 10**6
UNSCHEDULABLE: Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_REPELS: Final = ("NoSchedule", "NoExecute")


class Node(NamedTuple):
    """A Node, as far as placement depends on it.

    taints: those that repel pods.

    pods: the maximum number. unschedulable: its taint follows a moment later; topology spread considers only
    taints.
    """

    name: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, Any], ...]
    allocatable: Counts
    pods: int
    unschedulable: bool = False


def node(manifest: Mapping[str, Any], cordoned: bool = False) -> Node:
    """Reads a Node. cordoned: it accepts no more pods, whatever the manifest says."""
    metadata, spec, status = (manifest.get(part) or {} for part in ("metadata", "spec", "status"))
    taints = [taint for taint in spec.get("taints") or () if taint.get("effect") in _REPELS]
    if cordoned:
        taints.append(UNSCHEDULABLE)
    allocatable = {name: count(name, parse(str(text))) for name, text in (status.get("allocatable") or {}).items()}
    pods = allocatable.pop("pods", 0)
    unschedulable = bool(spec.get("unschedulable"))
    return Node(metadata.get("name", ""), metadata.get("labels") or {}, tuple(taints), allocatable, pods, unschedulable)


def count(resource: str, amount: Quantity) -> int:
    """An amount as kube-scheduler counts it."""
    return -(-amount.nanos // _NANOS_PER_MILLI) if resource == "cpu" else amount.value
