"""From the manifests of VMs and of a cluster to what becomes of the VMs there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..api.errors import FieldError, QuantityError
from ..instancetype.find.lookup import Lookup
from ..instancetype.vmi.cluster import KubeVirt
from ..pod.manifests import Manifest, environments, labels_of, malformed, name_of, namespace_of
from ..pod.of_vm import MIGRATE, RESTART, NoPod, launched, sample
from ..pod.resources import around
from .capacity import Sample
from .demand import Resources, demand
from .devices import Offer, taken
from .node import Node, node
from .outcome import Asked, outcome, running
from .storage import claims_of, reaching, storage
from .workload import Workload, is_over, of_manifest, of_pod


class Cluster(NamedTuple):
    """Where VMs are to run, as manifests. nodes: the Nodes. pods: the Pods of all namespaces. namespaces: the
    Namespaces, quotas: the ResourceQuotas, networks: the NetworkAttachmentDefinitions, None: not known. drain: the
    names of nodes to empty. instancetypes: those of which more VMs may be wanted. claims, volumes, classes: the
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
    devices: Resources | None = None


def placement(
    vms: Sequence[Manifest], lookup: Lookup, kubevirt: KubeVirt, cluster: Cluster, of_running: str = MIGRATE
) -> dict[str, Any]:
    """What becomes of VMs in a cluster; see outcome.outcome. A VM whose pod is among the pods runs.

    lookup: the instancetypes, preferences and revisions. of_running: what becomes of VMs that run, MIGRATE: a second
    pod, for each VM by itself, RESTART: new pods after all present ones have gone. Raises FieldError for what is no
    node, pod, ....
    """
    nodes = [_node(manifest, cluster.drain) for manifest in cluster.nodes]
    labels = {one.name: one.labels for one in nodes}
    disks = storage(cluster.claims, cluster.volumes, cluster.classes)
    pods = [reaching(_workload(manifest), disks) for manifest in cluster.pods if not is_over(manifest)]
    spaces = {name_of(one): labels_of(one) for one in cluster.namespaces}
    if cluster.drain:
        pods = [_claiming(pod, cluster) if pod.node in cluster.drain else pod for pod in pods]
    there = running(pods)
    restarted: set[tuple[str, str]] = set()
    if of_running == RESTART:
        keys = {(namespace_of(vm), name_of(vm)) for vm in vms}
        gone = [there.pop(key) for key in keys & there.keys()]
        restarted = {(pod.namespace, pod.name) for pod in gone}
        pods = [pod for pod in pods if (pod.namespace, pod.name) not in restarted]
    surroundings = environments(vms, kubevirt, spaces, cluster.quotas, cluster.networks)
    asked = []
    for vm in vms:
        namespace = namespace_of(vm)
        source = there.get((namespace, name_of(vm)))
        place = source.node if source is not None and source.node in labels else ""
        try:
            owner = source.owner if source is not None else ""
            made = launched(vm, lookup, kubevirt, surroundings[namespace], owner, labels.get(place))
            pod = of_pod(made.pod, name_of(vm), namespace)._replace(claims=claims_of(made.spec.get("volumes") or ()))
            asked.append(Asked(name_of(vm), namespace, _claiming(reaching(pod, disks), cluster), place))
        except (NoPod, FieldError) as error:
            asked.append(Asked(name_of(vm), namespace, None, place, " ".join(str(error).split())))
    samples = [_sample(one, kubevirt) for one in cluster.instancetypes]
    return outcome(nodes, pods, asked, cluster.drain, spaces, samples, _offer(cluster.devices, frozenset(restarted)))


def _claiming(pod: Workload, cluster: Cluster) -> Workload:
    """The pod with what its claims of devices need."""
    return pod._replace(devices=demand(pod.resource_claims, pod.namespace, cluster.devices))


def _offer(known: Resources | None, gone: frozenset[tuple[str, str]]) -> Offer | None:
    return Offer(known.slices, taken(known.claims.values(), gone)) if known is not None else None


def _sample(instancetype: Manifest, kubevirt: KubeVirt) -> Sample:
    name = name_of(instancetype)
    try:
        return Sample(name, of_pod(sample(instancetype, kubevirt, around(kubevirt)), name, ""))
    except NoPod as error:
        return Sample(name, None, str(error))


def _node(manifest: Manifest, drained: Sequence[str]) -> Node:
    try:
        return node(manifest, name_of(manifest) in drained)
    except (AttributeError, QuantityError, TypeError) as error:
        raise FieldError("nodes", malformed("Node", manifest, error)) from None


def _workload(manifest: Manifest) -> Workload:
    try:
        return of_manifest(manifest)
    except (AttributeError, QuantityError, TypeError) as error:
        raise FieldError("pods", malformed("Pod", manifest, error)) from None
