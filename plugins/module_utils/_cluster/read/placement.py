"""Nodes, pods and what else decides on where VMs find room."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.placement.question import Cluster, placement
from ..client.errors import ApiError, explain
from ..client.session import Session
from .kubevirt import kubevirt
from .lookup import ClusterLookup

Manifest = dict[str, Any]

_POD = Kind("Pod", "", "v1", "pods", True)
_QUOTA = Kind("ResourceQuota", "", "v1", "resourcequotas", True)
_NETWORK = Kind("NetworkAttachmentDefinition", "k8s.cni.cncf.io", "v1", "network-attachment-definitions", True)
_FORBIDDEN = 403
_NO_SUCH_API = 404


class Unread(Exception):
    """What is needed cannot be listed; one line with the remedy."""


def where_vms_fit(
    session: Session, vms: list[Manifest], drain: list[str], instancetypes: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """(what becomes of VMs in the cluster, warnings); see question.placement.

    drain: names of nodes. instancetypes: names of cluster-wide instancetypes. Raises Unread, FieldError, ApiError and
    ConnectionFailed.
    """
    known, lookup = kubevirt(session), ClusterLookup(session)
    nodes = _listed(session, BY_NAME["Node"])
    unknown = [name for name in drain if name not in {node["metadata"]["name"] for node in nodes}]
    if unknown:
        raise Unread(f"drain: no such node: {', '.join(unknown)}")
    pods = _listed(session, _POD)
    warnings: list[str] = []
    optional = [_optional(session, kind, warnings) for kind in (BY_NAME["Namespace"], _QUOTA, _NETWORK)]
    namespaces, quotas, networks = optional
    samples = [_instancetype(lookup, name) for name in instancetypes]
    cluster = Cluster(nodes, pods, namespaces or [], quotas or [], networks, drain, samples)
    return placement(vms, lookup, known, cluster), warnings


def _listed(session: Session, kind: Kind) -> list[Manifest]:
    try:
        return session.list(kind)[0]
    except ApiError as error:
        raise Unread(explain(error, "LIST", kind)) from None


def _optional(session: Session, kind: Kind, warnings: list[str]) -> list[Manifest] | None:
    """None where there is no such API, or where it may not be read, which is a warning."""
    try:
        return session.list(kind)[0]
    except ApiError as error:
        if error.code not in (_FORBIDDEN, _NO_SUCH_API):
            raise
        if error.code == _FORBIDDEN:
            warnings.append(f"{kind.plural} are not taken into account: {explain(error, 'LIST', kind)}")
        return None


def _instancetype(lookup: ClusterLookup, name: str) -> Manifest:
    found = lookup.get("VirtualMachineClusterInstancetype", "", name)
    if not isinstance(found, dict):
        problem = "no such VirtualMachineClusterInstancetype" if found is None else found.message
        raise Unread(f"instancetypes: {name}: {problem}")
    return found
