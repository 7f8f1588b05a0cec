"""Nodes and pods for the tests of placement."""

from typing import Any

from plugins.module_utils._capacity.placement.cluster_state import ClusterState
from plugins.module_utils._capacity.placement.scheduler_view import Node, PodInfo, from_manifest, node


def node_of(
    name: str = "n", labels: Any = None, cordoned: bool = False, taints: Any = None, **allocatable: Any
) -> Node:
    """A node with 4 CPUs and 8Gi; allocatable: other amounts, `gpu` being example.com/gpu."""
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10", **allocatable}
    if "gpu" in amounts:
        amounts["example.com/gpu"] = amounts.pop("gpu")
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}}
    manifest = {"metadata": metadata, "spec": {"taints": taints}, "status": {"allocatable": amounts}}
    return node(manifest, [name] if cordoned else ())


def pod_of(
    name: str = "p", requests: Any = None, node: str = "", labels: Any = None, namespace: str = "shop", **spec: Any
) -> PodInfo:
    """A pod with 1 CPU and 1Gi."""
    amounts = {"cpu": "1", "memory": "1Gi"} if requests is None else requests
    containers = [{"name": "c", "resources": {"requests": amounts}}]
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}}
    return from_manifest({"metadata": metadata, "spec": {"containers": containers, "nodeName": node, **spec}})


def state_of(*nodes: Node, pods: Any = (), namespaces: Any = None) -> ClusterState:
    return ClusterState(nodes, pods, namespaces)
