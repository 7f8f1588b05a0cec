"""Simulates the scheduling of VMs in a cluster, from manifests.

Where they fit, what is missing where they do not, and how many more would fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from ..._resolver.api.errors import FieldError, KubeVirtError
from ..._resolver.api.manifest import Manifest, labels_of, name_of, namespaced_name
from ..._resolver.api.name_rules import one_line
from ..._resolver.kubevirt.cluster import KubeVirt
from ..._resolver.kubevirt.instancetype.lookup import Lookup
from ..pod.environment import Environment
from ..pod.pod import MigrationSource, with_source_cpu
from ..pod.render import MIGRATE, RESTART, environments, read_as, render_vm, sample_pod
from ..pod.scheduling import OBSOLETE_MODEL, away_from
from .cluster_state import ClusterState
from .pod_placer import PodPlacer
from .reasons import SHOWN, problem
from .scheduler_view import Node, PodInfo, Storage, claim_names, from_manifest, from_pod, node, with_volume_affinity

# kube-scheduler chooses devices by expressions of CEL, which nothing here can evaluate.
_CLAIMS_DEVICES: Final = "its resource claims are not evaluated: only kube-scheduler can choose their devices"


def migration_target(source: PodInfo, labels: Mapping[str, str]) -> PodInfo:
    """The target pod of a running guest's migration. labels: the labels of its node."""
    host_model = OBSOLETE_MODEL in json.dumps(source.affinity.get("nodeAffinity") or {})
    selector = with_source_cpu(source.node_selector, labels, source.node_selector if host_model else None)
    return source._replace(node_selector=selector, affinity=away_from(source.affinity, source.owner), node="")


class PlacementRequest(NamedTuple):
    """A VM to place. pod: the one that it needs, or the target of a migration if the VM runs; or why there is none.
    node: where it runs, "" if it does not.
    """

    name: str
    namespace: str
    pod: PodInfo | str
    node: str = ""


def simulate(
    nodes: Sequence[Node],
    pods: Sequence[PodInfo],
    requests: Iterable[PlacementRequest],
    drained: Sequence[str] = (),
    namespaces: Mapping[str, Mapping[str, str]] | None = None,
    samples: Sequence[PlacementRequest] = (),
) -> dict[str, Any]:
    """{virtual_machines, drained, instancetypes}: see the functions below.

    nodes: drained nodes are cordoned. pods: the pods that run. requests: the VMs to place in order, after the guests
    of drained nodes. samples: one for each instancetype.
    """
    placer = PodPlacer(ClusterState(nodes, pods, namespaces))
    empty = PodPlacer(ClusterState(nodes, ()))
    labels = {node.name: node.labels for node in nodes}
    guests = [pod for pod in pods if pod.owner and pod.node in drained and not pod.terminating]
    # In the order in which they take room.
    return {
        "drained": [_drain_result(placer, guest, labels[guest.node]) for guest in guests],
        "virtual_machines": [_vm_result(placer, vm) for vm in requests],
        "instancetypes": [_capacity(sample, empty, placer) for sample in samples],
    }


def _capacity(sample: PlacementRequest, empty: PodPlacer, placer: PodPlacer) -> dict[str, Any]:
    """{name, fits, node_count, cluster_node_count, additional_vms, problem}. fits: an empty node could run it.
    node_count: the number of such nodes. cluster_node_count: the number of all nodes. additional_vms: how many more
    such VMs fit now. problem: what is missing if no node could.
    """
    answer = _answer(empty, sample.pod)
    additional = placer.remaining_pods(sample.pod) if answer["fits"] and not isinstance(sample.pod, str) else 0
    del answer["evaluated"], answer["nodes"]
    return {"name": sample.name, **answer, "cluster_node_count": len(empty.state.nodes), "additional_vms": additional}


def _vm_result(placer: PodPlacer, vm: PlacementRequest) -> dict[str, Any]:
    """{name, namespace, evaluated, fits, node_count, nodes, node or problem}, see `_answer`; of a VM that runs
    {name, namespace, evaluated, fits, node, migration: {evaluated, fits, node_count, nodes, problem}}.
    migration.evaluated: only if it is False, although there is a pod.

    The target of a migration is not placed, since guests do not have to migrate at the same time.
    """
    identity = {"name": vm.name, "namespace": vm.namespace}
    if not vm.node:
        return {**identity, **_placed(placer, vm.pod, "node")}
    migration, has_pod = _answer(placer, vm.pod, vm.node), not isinstance(vm.pod, str)
    if migration["evaluated"] or not has_pod:
        del migration["evaluated"]
    return {**identity, "evaluated": has_pod, "fits": True, "node": vm.node, "migration": migration}


def _drain_result(placer: PodPlacer, guest: PodInfo, labels: Mapping[str, str]) -> dict[str, Any]:
    """{name, namespace, node, fits, node_count, nodes, target or problem} of a guest on a drained node; with
    `evaluated` if it is False.
    """
    placed = _placed(placer, migration_target(guest, labels), "target", guest.node)
    if placed["evaluated"]:
        del placed["evaluated"]
    return {"name": guest.vm or guest.name, "namespace": guest.namespace, "node": guest.node, **placed}


def _placed(placer: PodPlacer, pod: PodInfo | str, key: str, source: str = "") -> dict[str, Any]:
    """The answer for a pod, which is placed if it fits. key: for the name of its node. source: see `problem`."""
    answer = _answer(placer, pod, source)
    node_index = placer.place(pod) if answer["fits"] and not isinstance(pod, str) else None
    return answer if node_index is None else {**answer, key: placer.state.nodes[node_index].name}


def _answer(placer: PodPlacer, pod: PodInfo | str, source: str = "") -> dict[str, Any]:
    """{evaluated, fits, node_count, nodes, problem}. pod: see PlacementRequest. source: see `problem`.

    evaluated: whether there is a pod, and it is known whether it fits: not if only the devices that it claims decide.
    nodes: the first nodes that it fits on. problem: if it fits on none.
    """
    if isinstance(pod, str):
        return _not_evaluated(pod)
    indexes = placer.fitting(pod)
    if indexes and pod.claims_devices:
        return _not_evaluated(_CLAIMS_DEVICES)
    names = [placer.state.nodes[index].name for index in indexes[:SHOWN]]
    answer = {"evaluated": True, "fits": bool(indexes), "node_count": len(indexes), "nodes": names}
    return answer if indexes else {**answer, "problem": problem(placer.state, pod, source)}


def _not_evaluated(why: str) -> dict[str, Any]:
    return {"evaluated": False, "fits": False, "node_count": 0, "nodes": [], "problem": why}


class PlacementObjects(NamedTuple):
    """The manifests that placement depends on. nodes: the Nodes. pods: the Pods of all namespaces. namespaces: the
    Namespaces, quotas: the ResourceQuotas, networks: the NetworkAttachmentDefinitions, None: not known. drain: the
    names of nodes to empty. instancetypes: the instancetypes whose capacity is computed. claims, volumes, classes: the
    PersistentVolumeClaims, PersistentVolumes and StorageClasses."""

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
    nodes = [read_as("Node", partial(node, drained=objects.drain), manifest) for manifest in objects.nodes]
    labels = {node.name: node.labels for node in nodes}
    storage = Storage(objects.claims, objects.volumes, objects.classes)
    listed = [read_as("Pod", from_manifest, manifest) for manifest in objects.pods]
    pods = [with_volume_affinity(pod, storage) for pod in listed if not pod.ended]
    namespace_labels = {name_of(namespace): labels_of(namespace) for namespace in objects.namespaces}
    running_pods = {(pod.namespace, pod.vm): pod for pod in pods if pod.is_guest and pod.node}
    if running_policy == RESTART:
        stopped = [running_pods.pop(key) for key in {*map(namespaced_name, vms)} & running_pods.keys()]
        restarted = {(pod.namespace, pod.name) for pod in stopped}
        pods = [pod for pod in pods if (pod.namespace, pod.name) not in restarted]
    environment_of = environments(vms, kubevirt, objects.namespaces, objects.quotas, objects.networks, objects.claims)
    requests = []
    for vm in vms:
        namespace, name = key = namespaced_name(vm)
        source = running_pods.get(key)
        uid = source.owner if source is not None else ""
        node_name, origin = "", None
        if source is not None and source.node in labels:
            node_name, origin = source.node, MigrationSource(labels[source.node], source.node_selector)
        pod: PodInfo | str
        try:
            launch = render_vm(vm, lookup, environment_of[namespace], uid, origin)
            claims = claim_names(launch.spec.get("volumes") or ())
            pod = with_volume_affinity(from_pod(launch.pod, name, namespace)._replace(claims=claims), storage)
        except (KubeVirtError, FieldError) as error:
            pod = one_line(error)
        requests.append(PlacementRequest(name, namespace, pod, node_name))
    samples = [PlacementRequest(name_of(item), "", _sample(item, kubevirt)) for item in objects.instancetypes]
    return simulate(nodes, pods, requests, objects.drain, namespace_labels, samples)


def _sample(instancetype: Manifest, kubevirt: KubeVirt) -> PodInfo | str:
    """The pod of a VM with only an instancetype, or why there is none."""
    try:
        return from_pod(sample_pod(instancetype, Environment(kubevirt)), name_of(instancetype), "")
    except KubeVirtError as error:
        return error.message
