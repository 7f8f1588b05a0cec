"""The nodes from which a pod's claims are reachable (``VolumeBinding`` of kube-scheduler).

A bound claim is where its volume is. A claim that waits for its first consumer may get a volume wherever its class
permits; classes without a provisioner, whose volumes exist beforehand, exclude no node. Other claims must be bound
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...api.manifest import name_of, path_of
from .objects import PodInfo

Manifest = Mapping[str, Any]

_BOUND: Final = "pv.kubernetes.io/bind-completed"
_SELECTED: Final = "volume.kubernetes.io/selected-node"
_NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"


class Storage(NamedTuple):
    """PersistentVolumeClaims by namespace and name, PersistentVolumes and StorageClasses by name."""

    claims: Mapping[tuple[str, str], Manifest]
    volumes: Mapping[str, Manifest]
    classes: Mapping[str, Manifest]


def storage(claims: Iterable[Manifest], volumes: Iterable[Manifest], classes: Iterable[Manifest]) -> Storage:
    """The storage of a cluster, from manifests."""
    return Storage(
        {path_of(claim): claim for claim in claims},
        {name_of(volume): volume for volume in volumes},
        {name_of(storage_class): storage_class for storage_class in classes},
    )


def with_volume_affinity(pod: PodInfo, objects: Storage) -> PodInfo:
    """The pod with the nodes from which its claims are reachable. A claim that does not exist yet may be anywhere."""
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
    """What a node must match; None while the claim must be bound first."""
    annotations, spec = claim["metadata"].get("annotations") or {}, claim.get("spec") or {}
    volume = spec.get("volumeName")
    if volume and _BOUND in annotations:
        return _volume_selectors((objects.volumes.get(volume, {}).get("spec") or {}).get("nodeAffinity") or {})
    storage_class = objects.classes.get(spec.get("storageClassName") or "")
    if volume or storage_class is None or storage_class.get("volumeBindingMode") != "WaitForFirstConsumer":
        return None
    if storage_class.get("provisioner") == _NO_PROVISIONER:
        return []
    return [*_selected_node(annotations), *_allowed_topologies(storage_class.get("allowedTopologies") or ())]


def _volume_selectors(affinity: Manifest) -> list[Manifest]:
    """kube-scheduler checks only node labels for a volume: a term that has only fields matches all nodes."""
    terms = (affinity.get("required") or {}).get("nodeSelectorTerms") or ()
    bare = [{"matchExpressions": term.get("matchExpressions") or ()} for term in terms]
    everywhere = any(term.get("matchFields") and not term.get("matchExpressions") for term in terms)
    return [] if everywhere or not affinity.get("required") else [{"nodeSelectorTerms": bare}]


def _selected_node(annotations: Manifest) -> list[Manifest]:
    """The node that kube-scheduler has already chosen."""
    if _SELECTED not in annotations:
        return []
    field = {"key": "metadata.name", "operator": "In", "values": [annotations[_SELECTED]]}
    return [{"nodeSelectorTerms": [{"matchFields": [field]}]}]


def _allowed_topologies(topologies: Sequence[Manifest]) -> list[Manifest]:
    if not topologies:
        return []
    labels = (topology.get("matchLabelExpressions") or () for topology in topologies)
    terms = [{"matchExpressions": [{**label, "operator": "In"} for label in expressions]} for expressions in labels]
    return [{"nodeSelectorTerms": terms}]
