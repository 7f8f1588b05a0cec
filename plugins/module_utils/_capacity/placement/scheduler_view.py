"""Nodes, pods and claims as kube-scheduler sees them, and whether a node accepts a pod, however full it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..._resolver.api.label_selector import matches_expression
from ..._resolver.api.manifest import name_of, namespaced_name
from ..._resolver.api.quantity import Quantity
from ..._resolver.kubevirt.vm.vmi import REQUIRED
from ..pod import amounts
from ..pod.amounts import HUGE_PAGES, PLAIN, Amounts, is_qualified, read_amounts
from ..pod.pod import Pod
from ..pod.scheduling import CREATED_BY

Manifest = Mapping[str, Any]
# Amounts as kube-scheduler counts them: CPU in thousandths, others in whole units; both rounded up.
Counts = dict[str, int]

UNSCHEDULABLE: Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


class Node(NamedTuple):
    """A Node, as far as placement depends on it.

    taints: the taints that repel pods. allocatable: its resources, one of which is the number of pods. unschedulable:
    its taint follows a moment later; topology spread considers only taints.
    """

    name: str
    labels: Mapping[str, str]
    taints: tuple[Manifest, ...]
    allocatable: Counts
    unschedulable: bool = False


def node(manifest: Manifest, drained: Sequence[str] = ()) -> Node:
    """Reads a Node. drained: the names of nodes that accept no more pods, whatever the manifests say."""
    metadata, spec, status = (manifest.get(part) or {} for part in ("metadata", "spec", "status"))
    taints = [taint for taint in spec.get("taints") or () if taint.get("effect") in ("NoSchedule", "NoExecute")]
    if metadata.get("name") in drained:
        taints.append(UNSCHEDULABLE)
    allocatable = {name: _count(name, amount) for name, amount in read_amounts(status.get("allocatable")).items()}
    unschedulable = bool(spec.get("unschedulable"))
    return Node(metadata.get("name", ""), metadata.get("labels") or {}, tuple(taints), allocatable, unschedulable)


def _count(resource: str, amount: Quantity) -> int:
    """An amount as kube-scheduler counts it."""
    return amount.milli if resource == "cpu" else amount.value


class PodInfo(NamedTuple):
    """A pod.

    requests: without zeros and resources that kube-scheduler does not look at; with a place for one of the node's pods.
    terminating: it is being deleted. ended: it needs nothing any more. node: where it runs, "" if it does not yet.
    claims: the names of its PersistentVolumeClaims. volume_affinity: by claim, the node selectors that all have to
    hold; unbound_claim: one that has to be bound first, "" for none; see with_volume_affinity. claims_devices: it has
    resource claims (dynamic resource allocation). The rest is as in a pod's spec.
    """

    name: str
    namespace: str
    labels: Mapping[str, str]
    requests: Counts
    node_selector: Mapping[str, str]
    affinity: Manifest
    tolerations: tuple[Manifest, ...]
    spread: tuple[Manifest, ...]
    terminating: bool = False
    ended: bool = False
    node: str = ""
    claims: tuple[str, ...] = ()
    volume_affinity: tuple[tuple[str, Manifest], ...] = ()
    unbound_claim: str = ""
    claims_devices: bool = False

    @property
    def owner(self) -> str:
        """The UID of the VMI that it runs, "" for a pod of something else."""
        return self.labels.get(CREATED_BY, "") if self.labels.get("kubevirt.io") == "virt-launcher" else ""

    @property
    def vm(self) -> str:
        """The name of the VM that it runs, "" for none; a name longer than a label is cut, or is the hostname."""
        return self.labels.get("vmi.kubevirt.io/id") or self.labels.get("vm.kubevirt.io/name") or ""

    @property
    def is_guest(self) -> bool:
        """Whether it runs a VM and is to stay."""
        return bool(self.owner and self.vm and not self.terminating and not self.ended)

    def required(self, kind: str) -> list[Manifest]:
        """The terms that have to hold. kind: podAffinity or podAntiAffinity."""
        return list((self.affinity.get(kind) or {}).get(REQUIRED) or ())


def from_pod(pod: Pod, name: str, namespace: str) -> PodInfo:
    """The pod of a VM that is yet to be created."""
    return PodInfo(
        name,
        namespace,
        pod.labels,
        _counts(pod.requests),
        pod.node_selector,
        pod.affinity,
        tuple(pod.tolerations),
        tuple(pod.spread),
        claims_devices=bool(pod.claims),
    )


def from_manifest(manifest: Manifest) -> PodInfo:
    """Reads a Pod, with its total requests (``resourcehelper.PodRequests``)."""
    metadata, spec = (manifest.get(part) or {} for part in ("metadata", "spec"))
    # A pod that is there has a request for each limit; for one that is made up `Container.stored_requests` adds them.
    own = read_amounts((spec.get("resources") or {}).get("requests"))
    needed = amounts.add_up(
        {**amounts.requests([*amounts.read_containers(spec)]), **own}, read_amounts(spec.get("overhead"))
    )
    claims = ((volume.get("persistentVolumeClaim") or {}).get("claimName") for volume in spec.get("volumes") or ())
    return PodInfo(
        metadata.get("name", ""),
        metadata.get("namespace", ""),
        metadata.get("labels") or {},
        _counts(needed),
        spec.get("nodeSelector") or {},
        spec.get("affinity") or {},
        tuple(spec.get("tolerations") or ()),
        tuple(spec.get("topologySpreadConstraints") or ()),
        bool(metadata.get("deletionTimestamp")),
        (manifest.get("status") or {}).get("phase") in ("Succeeded", "Failed"),
        spec.get("nodeName") or "",
        tuple(filter(None, claims)),
        claims_devices=bool(spec.get("resourceClaims")),
    )


def _counts(needed: Amounts) -> Counts:
    scalars = (HUGE_PAGES, "attachable-volumes-")
    counts = {
        name: _count(name, amount)
        for name, amount in needed.items()
        if name in PLAIN or name.startswith(scalars) or is_qualified(name)
    }
    return {**{name: amount for name, amount in counts.items() if amount}, "pods": 1}


def untolerated_taints(node: Node, pod: PodInfo) -> Iterator[Manifest]:
    """The taints of a node that a pod does not tolerate; an unschedulable node has a taint for this, too."""
    for taint in (*node.taints, *((UNSCHEDULABLE,) if node.unschedulable else ())):
        if not any(_tolerates(toleration, taint) for toleration in pod.tolerations):
            yield taint


def _tolerates(toleration: Manifest, taint: Manifest) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Equal":
        return (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(operator == "Exists")


def missing_labels(node: Node, pod: PodInfo) -> Iterator[str]:
    """The labels (`key=value`) of the node selector that a node lacks."""
    for key, value in pod.node_selector.items():
        if node.labels.get(key) != value:
            yield f"{key}={value}"


def matches_node_affinity(node: Node, pod: PodInfo) -> bool:
    """Whether node selector and required node affinity take a node."""
    return not any(missing_labels(node, pod)) and matches_required_affinity(node, pod)


def matches_required_affinity(node: Node, pod: PodInfo) -> bool:
    required = (pod.affinity.get("nodeAffinity") or {}).get(REQUIRED)
    return required is None or selects(required, node)


def unreachable_claims(node: Node, pod: PodInfo) -> Iterator[str]:
    """The claims of a pod that cannot be reached from a node."""
    for name, selector in pod.volume_affinity:
        if not selects(selector, node):
            yield name


def selects(selector: Manifest, node: Node) -> bool:
    return any(_matches_term(term, node) for term in selector.get("nodeSelectorTerms") or ())


def _matches_term(term: Manifest, node: Node) -> bool:
    labels, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not labels and not fields:
        return False
    own = {"metadata.name": node.name}
    return all(matches_expression(expression, node.labels) for expression in labels) and all(
        matches_expression(expression, own) for expression in fields
    )


_BOUND: Final = "pv.kubernetes.io/bind-completed"
# The node that kube-scheduler has already chosen.
_SELECTED: Final = "volume.kubernetes.io/selected-node"
_NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"


class Storage:
    """The PersistentVolumeClaims, PersistentVolumes and StorageClasses of a cluster."""

    def __init__(
        self, claims: Iterable[Manifest] = (), volumes: Iterable[Manifest] = (), classes: Iterable[Manifest] = ()
    ) -> None:
        self.claims = {namespaced_name(claim): claim for claim in claims}
        self.volumes = {name_of(volume): volume for volume in volumes}
        self.classes = {name_of(storage_class): storage_class for storage_class in classes}


def with_volume_affinity(pod: PodInfo, objects: Storage) -> PodInfo:
    """The pod with the nodes from which its claims are reachable (``VolumeBinding`` of kube-scheduler).

    A bound claim is where its volume is. A claim that waits for its first consumer may get a volume wherever its class
    permits; classes without a provisioner, whose volumes exist beforehand, exclude no node. Other claims must be bound
    first. A claim that does not exist yet may be anywhere.
    """
    selectors: list[tuple[str, Manifest]] = []
    for name in pod.claims:
        claim = objects.claims.get((pod.namespace, name))
        if claim is None:
            continue
        claim_selectors = _selectors(claim, objects)
        if claim_selectors is None:
            return pod._replace(unbound_claim=name)
        selectors += [(name, selector) for selector in claim_selectors]
    return pod._replace(volume_affinity=tuple(selectors))


def claim_names(volumes: Sequence[Manifest]) -> tuple[str, ...]:
    """The claims among a VMI's volumes that are also volumes of its pod. A DataVolume's claim has the same name."""
    names: dict[str, None] = {}
    for volume in volumes:
        for source in (volume, volume.get("ephemeral") or {}):
            claim = source.get("persistentVolumeClaim") or {}
            if claim.get("claimName") and not claim.get("hotpluggable"):
                names[claim["claimName"]] = None
        data_volume = volume.get("dataVolume") or {}
        if data_volume.get("name") and not data_volume.get("hotpluggable"):
            names[data_volume["name"]] = None
    return tuple(names)


def _selectors(claim: Manifest, objects: Storage) -> list[Manifest] | None:
    """The selectors that a node must match; None while the claim must be bound first."""
    annotations, spec = claim["metadata"].get("annotations") or {}, claim.get("spec") or {}
    volume = spec.get("volumeName")
    if volume and _BOUND in annotations:
        return _volume_selectors((objects.volumes.get(volume, {}).get("spec") or {}).get("nodeAffinity") or {})
    storage_class = objects.classes.get(spec.get("storageClassName") or "")
    if volume or storage_class is None or storage_class.get("volumeBindingMode") != "WaitForFirstConsumer":
        return None
    selectors: list[Manifest] = []
    if storage_class.get("provisioner") == _NO_PROVISIONER:
        return selectors
    if _SELECTED in annotations:
        field = {"key": "metadata.name", "operator": "In", "values": [annotations[_SELECTED]]}
        selectors.append({"nodeSelectorTerms": [{"matchFields": [field]}]})
    if topologies := storage_class.get("allowedTopologies"):
        labels = (topology.get("matchLabelExpressions") or () for topology in topologies)
        terms = [{"matchExpressions": [{**label, "operator": "In"} for label in expressions]} for expressions in labels]
        selectors.append({"nodeSelectorTerms": terms})
    return selectors


def _volume_selectors(affinity: Manifest) -> list[Manifest]:
    """kube-scheduler checks only node labels for a volume: a term that has only fields matches all nodes."""
    terms = (affinity.get("required") or {}).get("nodeSelectorTerms") or ()
    bare = [{"matchExpressions": term.get("matchExpressions") or ()} for term in terms]
    any_node = any(term.get("matchFields") and not term.get("matchExpressions") for term in terms)
    return [] if any_node or not affinity.get("required") else [{"nodeSelectorTerms": bare}]
