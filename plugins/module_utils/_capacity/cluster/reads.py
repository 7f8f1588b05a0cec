"""Reads all that placement depends on, and all that quotas and limit ranges do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..._cluster.client.errors import ApiError, TaskFailed
from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.reads.surroundings import NETWORK, POD, QUOTA, STORAGE_CLASS, default_class, list_if_permitted
from ..._cluster.task import Task
from ..._resolver.api.errors import KubeVirtError
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, namespace_of
from ..._resolver.preflight.object_keys import keys_for_expansion
from ..placement.simulation import PlacementObjects, placement
from ..quota.check import QuotaObjects, check_quotas

ALL: Final = "*"
_VOLUME: Final = Kind("PersistentVolume", "", "v1", "persistentvolumes", False)
_KIND: Final = "VirtualMachineClusterInstancetype"

_LIMITS = Kind("LimitRange", "", "v1", "limitranges", True)
_AAQ = ("aaq.kubevirt.io", "v1alpha1")
_APPLICATION = Kind("ApplicationAwareResourceQuota", *_AAQ, "applicationawareresourcequotas", True)
_SHARED = Kind("ApplicationAwareClusterResourceQuota", *_AAQ, "applicationawareclusterresourcequotas", False)
# Their copies in the namespaces that they are for, which need no right beyond these.
_COPIES = Kind(
    "ApplicationAwareAppliedClusterResourceQuota", *_AAQ, "applicationawareappliedclusterresourcequotas", True
)
_CONFIGURATION = Kind("AAQ", *_AAQ, "aaqs", False)


def read_placement(
    session: Session, vms: list[Manifest], drain: list[str], instancetypes: list[str], running_policy: str, task: Task
) -> tuple[dict[str, Any], list[str]]:
    """(the placement of VMs in the cluster, warnings); see simulation.placement.

    drain: names of nodes. instancetypes: names of cluster-wide instancetypes, ALL for all. running_policy: what becomes
    of VMs that run. Raises TaskFailed, FieldError and RequestFailed.
    """
    kv, lookup = kubevirt(session), ClusterLookup(session)
    nodes = session.list(KINDS["Node"])
    unknown = [name for name in drain if name not in {node["metadata"]["name"] for node in nodes}]
    if unknown:
        raise TaskFailed(f"drain: no such node: {', '.join(unknown)}")
    pods = session.list(POD)
    warnings: list[str] = []
    kinds = (KINDS["Namespace"], QUOTA, NETWORK)
    namespaces, quotas, networks = (list_if_permitted(session, kind, warnings) for kind in kinds)
    lookup.gather(key for vm in vms for key in keys_for_expansion(vm, kv.release))
    samples = _instancetypes(lookup, instancetypes, task)
    claims, volumes, classes = _storage(session, warnings) or ([], [], [])
    cluster = PlacementObjects(
        nodes, pods, namespaces or [], quotas or [], networks, drain, samples, claims, volumes, classes
    )
    return placement(vms, lookup, kv, cluster, running_policy), warnings


def _storage(session: Session, warnings: list[str]) -> list[list[Manifest]]:
    """Claims, volumes and storage classes; nothing if one of them may not be read, since each needs the others."""
    lists = []
    for kind in (KINDS["PersistentVolumeClaim"], _VOLUME, STORAGE_CLASS):
        items = list_if_permitted(session, kind, warnings)
        if items is None:
            return []
        lists.append(items)
    return lists


def _instancetypes(lookup: ClusterLookup, names: list[str], task: Task) -> list[Manifest]:
    if ALL in names:
        live = list(lookup.list(_KIND, ""))
        if (unread := lookup.problem(_KIND, "")) is not None:
            raise TaskFailed(f"instancetypes: {unread.message}")
        return sorted(live, key=lambda item: str(item["metadata"]["name"]))
    found = []
    for name in names:
        try:
            instancetype = lookup.get(_KIND, "", name)
        except KubeVirtError as error:
            raise TaskFailed(f"instancetypes: {name}: {error.message}") from error
        if instancetype is None:
            task.report_missing(f"instancetypes: {name}: no such {_KIND}")
        else:
            found.append(instancetype)
    return found


def read_quota_effects(session: Session, vms: list[Manifest], running_policy: str) -> tuple[dict[str, Any], list[str]]:
    """(the effect of quotas and limit ranges on VMs, warnings); see check.check_quotas.

    Raises FieldError and RequestFailed.
    """
    namespaces = {namespace_of(vm) for vm in vms}
    # One namespace needs no right beyond it.
    namespace = namespaces.pop() if len(namespaces) == 1 else None
    warnings: list[str] = []
    limits = QuotaObjects(
        session.list(QUOTA, namespace),
        session.list(_LIMITS, namespace),
        list_if_permitted(session, _APPLICATION, warnings, namespace) or [],
        _cluster_quotas(session, warnings, namespace),
    )
    cluster = _with_users(session, limits, namespace, warnings)._replace(
        vms=session.list(KINDS["VirtualMachine"], namespace),
        default_class=_default_class(session, vms, warnings),
    )
    kv, lookup = kubevirt(session), ClusterLookup(session)
    lookup.gather(key for vm in vms for key in keys_for_expansion(vm, kv.release))
    return check_quotas(vms, lookup, kv, cluster, running_policy), warnings


def read_limits(
    session: Session, vms: Sequence[Manifest], namespace: str | None, warnings: list[str]
) -> QuotaObjects | None:
    """Reads what limits the pods of existing VMs; None if nothing does, or if the user may not list it (a warning).

    Raises RequestFailed.
    """
    kinds = (QUOTA, _LIMITS, _APPLICATION)
    quotas, ranges, applications = (list_if_permitted(session, kind, warnings, namespace) for kind in kinds)
    if quotas is None or ranges is None:
        return None
    limits = QuotaObjects(quotas, ranges, applications or [], _cluster_quotas(session, warnings, namespace), vms=vms)
    if not any(limits[:4]):
        return None
    try:
        return _with_users(session, limits, namespace, warnings)
    except ApiError as error:
        warnings.append(f"quotas are not taken into account: {error}")
        return None


def _with_users(session: Session, limits: QuotaObjects, namespace: str | None, warnings: list[str]) -> QuotaObjects:
    """The limits with what takes of them, except VMs. namespace: the only one, None for several."""
    namespaces = list_if_permitted(session, KINDS["Namespace"], warnings)
    if limits.application_quotas or limits.cluster_quotas:
        aaqs = list_if_permitted(session, _CONFIGURATION, warnings)
        guests = list_if_permitted(session, KINDS["VirtualMachineInstance"], warnings, namespace)
        limits = limits._replace(aaq=next(iter(aaqs or ()), None), guests=guests or [])
    networks = list_if_permitted(session, NETWORK, warnings)
    return limits._replace(namespaces=namespaces or [], networks=networks, pods=session.list(POD, namespace))


def _cluster_quotas(session: Session, warnings: list[str], namespace: str | None) -> list[Manifest]:
    refused: list[str] = []
    live = list_if_permitted(session, _SHARED, refused)
    if live is not None or not refused:
        return live or []
    return list_if_permitted(session, _COPIES, warnings, namespace) or []


def _default_class(session: Session, vms: list[Manifest], warnings: list[str]) -> str:
    """The storage class of data volumes that name none; "" for none, or if no VM has a data volume."""
    if not any((vm.get("spec") or {}).get("dataVolumeTemplates") for vm in vms):
        return ""
    live = default_class(list_if_permitted(session, STORAGE_CLASS, warnings) or [])
    return str(live["metadata"]["name"]) if live else ""
