"""A pod as kube-scheduler sees it: what it requests and where it may run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ...kubevirt.pod.amounts import Amounts, amounts, read_container, requests, total
from ...kubevirt.pod.pod import Pod
from ...kubevirt.pod.scheduling import CREATED_BY
from .demand import Demand
from .node import Counts, count

_PLAIN: Final = ("cpu", "memory", "ephemeral-storage")
_QUALIFIED: Final = re.compile(r"[^/]+/[^/]+")


class PodInfo(NamedTuple):
    """A pod.

    requests: without zeros and resources that kube-scheduler does not look at. terminating: it is being deleted.
    node: where it runs, "" if it does not yet. claims: the names of its PersistentVolumeClaims. volume_affinity: by
    claim, the node selectors that all have to hold; unbound_claim: one that has to be bound first, "" for none; see
    storage.py. devices: what its claims of devices (resource_claims) need, None for none; see devices.py. The rest is
    as in a pod's spec.
    """

    name: str
    namespace: str
    labels: Mapping[str, str]
    requests: Counts
    node_selector: Mapping[str, str]
    affinity: Mapping[str, Any]
    tolerations: tuple[Mapping[str, Any], ...]
    spread: tuple[Mapping[str, Any], ...]
    terminating: bool = False
    node: str = ""
    claims: tuple[str, ...] = ()
    volume_affinity: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    unbound_claim: str = ""
    resource_claims: tuple[Mapping[str, Any], ...] = ()
    devices: Demand | None = None

    @property
    def owner(self) -> str:
        """The UID of the VMI that it runs, "" for a pod of something else."""
        return self.labels.get(CREATED_BY, "") if self.labels.get("kubevirt.io") == "virt-launcher" else ""

    @property
    def vm(self) -> str:
        """The name of the VM that it runs, "" for none; a name longer than a label is cut, or is the hostname."""
        return self.labels.get("vmi.kubevirt.io/id") or self.labels.get("vm.kubevirt.io/name") or ""

    def required(self, kind: str) -> list[Mapping[str, Any]]:
        """The terms that have to hold. kind: podAffinity or podAntiAffinity."""
        terms = (self.affinity.get(kind) or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
        return list(terms or ())


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
        resource_claims=tuple(pod.claims),
    )


def from_manifest(manifest: Mapping[str, Any]) -> PodInfo:
    """Reads a Pod."""
    metadata, spec = (manifest.get(part) or {} for part in ("metadata", "spec"))
    return PodInfo(
        metadata.get("name", ""),
        metadata.get("namespace", ""),
        metadata.get("labels") or {},
        _counts(_requests(spec)),
        spec.get("nodeSelector") or {},
        spec.get("affinity") or {},
        tuple(spec.get("tolerations") or ()),
        tuple(spec.get("topologySpreadConstraints") or ()),
        bool(metadata.get("deletionTimestamp")),
        spec.get("nodeName") or "",
        tuple(_claims(spec.get("volumes") or ())),
        resource_claims=tuple(spec.get("resourceClaims") or ()),
    )


def _claims(volumes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for volume in volumes:
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if name:
            yield name


def is_over(manifest: Mapping[str, Any]) -> bool:
    """Whether a pod has ended, so that it no longer needs anything."""
    return (manifest.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _requests(spec: Mapping[str, Any]) -> Amounts:
    """What a pod requests in all (``resourcehelper.PodRequests``).

    A pod that is there has a request for each limit; one that is made up may not, and ``Container.stored`` is for both.
    """
    containers, init_containers = (
        [read_container(entry) for entry in spec.get(field) or ()] for field in ("containers", "initContainers")
    )
    own = amounts((spec.get("resources") or {}).get("requests"))
    return total({**requests(containers, init_containers), **own}, amounts(spec.get("overhead")))


def _counts(amounts: Amounts) -> Counts:
    counts = {name: count(name, amount) for name, amount in amounts.items() if name in _PLAIN or _is_scalar(name)}
    return {name: amount for name, amount in counts.items() if amount}


def _is_scalar(name: str) -> bool:
    return name.startswith(("hugepages-", "attachable-volumes-")) or _QUALIFIED.fullmatch(name) is not None
