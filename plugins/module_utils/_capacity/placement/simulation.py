"""Simulates the scheduling of VMs in a cluster, from manifests.

Where they fit, what is missing where they do not, and how many more would fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..._resolver.api.errors import FieldError, KubeVirtError
from ..._resolver.api.manifest import Manifest, labels_of, name_of, namespace_of, namespaced_name
from ..._resolver.api.name_rules import one_line
from ..._resolver.kubevirt.config.cluster import KubeVirt
from ..._resolver.kubevirt.find.lookup import Lookup
from ..pod.environment import Environment
from ..pod.pod import Source, with_source_cpu
from ..pod.render import MIGRATE, RESTART, environments, reading, render_vm, sample_pod
from ..pod.scheduling import OBSOLETE_MODEL, away_from
from .batch import Batch
from .demand import DeviceObjects, demand
from .devices import Allocator, allocated_devices
from .fit import problem
from .objects import Node, PodInfo, claim_names, from_manifest, from_pod, is_over, node, storage, with_volume_affinity
from .state import ClusterState


def guest_pods(pods: Iterable[PodInfo], nodes: Iterable[str]) -> list[PodInfo]:
    """The pods of guests on the nodes."""
    drained = set(nodes)
    return [pod for pod in pods if pod.owner and pod.node in drained and not pod.terminating]


def migration_target(source: PodInfo, labels: Mapping[str, str]) -> PodInfo:
    """The target pod of a running guest's migration. labels: the labels of its node."""
    host_model = OBSOLETE_MODEL in json.dumps(source.affinity.get("nodeAffinity") or {})
    selector = with_source_cpu(source.node_selector, labels, source.node_selector if host_model else None)
    return source._replace(node_selector=selector, affinity=away_from(source.affinity, source.owner), node="")


# Results name at most this many nodes.
_SHOWN: Final = 20


class PlacementRequest(NamedTuple):
    """A VM to place. pod: the one that it needs; the target of a migration, if the VM runs; None if there is none,
    with a problem that says why. node: where it runs."""

    name: str
    namespace: str
    pod: PodInfo | None
    node: str = ""
    problem: str = ""


def running_pods_by_vm(pods: Iterable[PodInfo]) -> dict[tuple[str, str], PodInfo]:
    """The pods of running VMs by namespace and name."""
    pods_by_vm = {}
    for pod in pods:
        if pod.owner and pod.node and pod.vm and not pod.terminating:
            pods_by_vm[pod.namespace, pod.vm] = pod
    return pods_by_vm


def simulate(
    nodes: Sequence[Node],
    pods: Sequence[PodInfo],
    requests: Iterable[PlacementRequest],
    drained: Sequence[str] = (),
    namespaces: Mapping[str, Mapping[str, str]] | None = None,
    samples: Sequence[PlacementRequest] = (),
    allocator: Allocator | None = None,
) -> dict[str, Any]:
    """{virtual_machines, drained, instancetypes}: see the functions below.

    nodes: drained nodes are cordoned. pods: the pods that run. requests: the VMs to place in order, after the guests
    of drained nodes. samples: one for each instancetype. allocator: the devices for claims.
    """
    batch = Batch(ClusterState(nodes, pods, namespaces, allocator))
    empty = Batch(ClusterState(nodes, ()))
    labels = {node.name: node.labels for node in nodes}
    evicted = [_drain_result(batch, guest, labels[guest.node]) for guest in guest_pods(pods, drained)]
    results = [_migration_result(batch, vm) if vm.node else _placement_result(batch, vm) for vm in requests]
    return {
        "virtual_machines": results,
        "drained": evicted,
        "instancetypes": [_capacity(sample, empty, batch) for sample in samples],
    }


def _capacity(sample: PlacementRequest, empty: Batch, batch: Batch) -> dict[str, Any]:
    """{name, fits, node_count, nodes_total, additional_vms, problem}. fits: an empty node could run it. node_count: the
    number of such nodes. additional_vms: how many more such VMs fit now. problem: what is missing if no node could.
    """
    count, total = len(empty.fitting(sample.pod)) if sample.pod is not None else 0, len(empty.state.nodes)
    result = {"name": sample.name, "fits": count > 0, "node_count": count, "nodes_total": total, "additional_vms": 0}
    if sample.pod is None or not count:
        return {**result, "problem": problem(empty.state, sample.pod) if sample.pod is not None else sample.problem}
    return {**result, "additional_vms": batch.remaining_pods(sample.pod)}


def _placement_result(batch: Batch, vm: PlacementRequest) -> dict[str, Any]:
    """{name, namespace, evaluated, fits, node_count, nodes, node or problem}. evaluated: whether it
    has a pod, and it is known whether the pod fits. nodes: the nodes that the pod fits on before it is placed.
    """
    return {"name": vm.name, "namespace": vm.namespace, **_placed(batch, vm.pod, "node", vm.problem)}


def _migration_result(batch: Batch, vm: PlacementRequest) -> dict[str, Any]:
    """{name, namespace, evaluated, fits, node, migration: {fits, node_count, nodes, problem}} of a VM that runs.

    The target of its migration is not placed, since guests do not have to migrate at the same time.
    """
    nodes = _fitting(batch, vm.pod)
    missing = {} if nodes["nodes"] else {"problem": problem(batch.state, vm.pod) if vm.pod else vm.problem}
    doubt = {} if vm.pod is None or _is_decided(batch, vm.pod, bool(nodes["nodes"])) else {"evaluated": False}
    migration = {**doubt, "fits": bool(nodes["nodes"]), **nodes, **missing}
    identity = {"name": vm.name, "namespace": vm.namespace, "evaluated": vm.pod is not None}
    return {**identity, "fits": True, "node": vm.node, "migration": migration}


def _drain_result(batch: Batch, guest: PodInfo, labels: Mapping[str, str]) -> dict[str, Any]:
    """{name, namespace, node, fits, node_count, nodes, target or problem} of a guest on a drained node."""
    placed = _placed(batch, migration_target(guest, labels), "target")
    if placed["evaluated"]:
        del placed["evaluated"]
    return {"name": guest.vm or guest.name, "namespace": guest.namespace, "node": guest.node, **placed}


def _is_decided(batch: Batch, pod: PodInfo | None, fits: bool) -> bool:
    """Whether there is an answer for a pod: of some devices that it claims it cannot be known whether they match."""
    return pod is not None and (fits or pod.devices is None or not batch.fitting(pod, None))


def _placed(batch: Batch, pod: PodInfo | None, key: str, reason: str = "") -> dict[str, Any]:
    """{evaluated, fits, node_count, nodes, the node under a key or problem}. reason: why there is no pod."""
    nodes = _fitting(batch, pod)
    node_index = batch.place(pod) if pod is not None else None
    result = {"evaluated": _is_decided(batch, pod, node_index is not None), "fits": node_index is not None, **nodes}
    if node_index is not None:
        return {**result, key: batch.state.nodes[node_index].name}
    return {**result, "problem": problem(batch.state, pod) if pod is not None else reason}


def _fitting(batch: Batch, pod: PodInfo | None) -> dict[str, Any]:
    indexes = batch.fitting(pod) if pod is not None else []
    return {"node_count": len(indexes), "nodes": [batch.state.nodes[index].name for index in indexes[:_SHOWN]]}


class PlacementObjects(NamedTuple):
    """The manifests that placement depends on. nodes: the Nodes. pods: the Pods of all namespaces. namespaces: the
    Namespaces, quotas: the ResourceQuotas, networks: the NetworkAttachmentDefinitions, None: not known. drain: the
    names of nodes to empty. instancetypes: the instancetypes whose capacity is computed. claims, volumes, classes: the
    PersistentVolumeClaims, PersistentVolumes and StorageClasses. devices: what there is for claims of devices, None:
    not known."""

    nodes: Sequence[Manifest]
    pods: Sequence[Manifest] = ()
    namespaces: Sequence[Manifest] = ()
    quotas: Sequence[Manifest] = ()
    networks: Sequence[Manifest] | None = None
    drain: Sequence[str] = ()
    instancetypes: Sequence[Manifest] = ()
    claims: Sequence[Manifest] = ()
    volumes: Sequence[Manifest] = ()
    classes: Sequence[Manifest] = ()
    devices: DeviceObjects | None = None


def placement(
    vms: Sequence[Manifest],
    lookup: Lookup,
    kubevirt: KubeVirt,
    objects: PlacementObjects,
    running_policy: str = MIGRATE,
) -> dict[str, Any]:
    """Places VMs in a cluster; see `simulate`. A VM whose pod is among the pods runs.

    lookup: the instancetypes, preferences and revisions. running_policy: what becomes of VMs that run, MIGRATE: a
    second pod, for each VM by itself, RESTART: new pods after all present ones have gone. Raises FieldError for what is
    no node, pod, ....
    """
    nodes = [_node(manifest, objects.drain) for manifest in objects.nodes]
    labels = {node.name: node.labels for node in nodes}
    disks = storage(objects.claims, objects.volumes, objects.classes)
    pods = [with_volume_affinity(_pod_info(manifest), disks) for manifest in objects.pods if not is_over(manifest)]
    namespace_labels = {name_of(namespace): labels_of(namespace) for namespace in objects.namespaces}
    if objects.drain:
        pods = [_with_devices(pod, objects) if pod.node in objects.drain else pod for pod in pods]
    running_pods = running_pods_by_vm(pods)
    restarted: set[tuple[str, str]] = set()
    if running_policy == RESTART:
        keys = set(map(namespaced_name, vms))
        stopped = [running_pods.pop(key) for key in keys & running_pods.keys()]
        restarted = {(pod.namespace, pod.name) for pod in stopped}
        pods = [pod for pod in pods if (pod.namespace, pod.name) not in restarted]
    namespace_environments = environments(
        vms, kubevirt, namespace_labels, objects.quotas, objects.networks, objects.claims
    )
    requests = []
    for vm in vms:
        namespace = namespace_of(vm)
        source = running_pods.get((namespace, name_of(vm)))
        node_name = source.node if source is not None and source.node in labels else ""
        try:
            owner = source.owner if source is not None else ""
            origin = Source(labels[node_name], source.node_selector) if source is not None and node_name else None
            launch = render_vm(vm, lookup, namespace_environments[namespace], owner, origin)
            claims = claim_names(launch.spec.get("volumes") or ())
            pod = from_pod(launch.pod, name_of(vm), namespace)._replace(claims=claims)
            pod = _with_devices(with_volume_affinity(pod, disks), objects)
            requests.append(PlacementRequest(name_of(vm), namespace, pod, node_name))
        except (KubeVirtError, FieldError) as error:
            requests.append(PlacementRequest(name_of(vm), namespace, None, node_name, one_line(error)))
    samples = [_sample(instancetype, kubevirt) for instancetype in objects.instancetypes]
    allocator = None
    if objects.devices is not None:
        used = allocated_devices(objects.devices.claims.values(), frozenset(restarted))
        allocator = Allocator(objects.devices.slices, used)
    return simulate(nodes, pods, requests, objects.drain, namespace_labels, samples, allocator)


def _with_devices(pod: PodInfo, objects: PlacementObjects) -> PodInfo:
    """The pod with what its claims of devices need."""
    return pod._replace(devices=demand(pod.resource_claims, pod.namespace, objects.devices))


def _sample(instancetype: Manifest, kubevirt: KubeVirt) -> PlacementRequest:
    """A VM with only an instancetype."""
    name = name_of(instancetype)
    try:
        return PlacementRequest(name, "", from_pod(sample_pod(instancetype, Environment(kubevirt)), name, ""))
    except KubeVirtError as error:
        return PlacementRequest(name, "", None, problem=error.message)


def _node(manifest: Manifest, drained: Sequence[str]) -> Node:
    with reading(manifest, "Node"):
        return node(manifest, name_of(manifest) in drained)


def _pod_info(manifest: Manifest) -> PodInfo:
    with reading(manifest, "Pod"):
        return from_manifest(manifest)
