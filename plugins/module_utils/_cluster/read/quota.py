"""Reads quotas, limit ranges and all else that the admission of pods depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.api.manifest import namespace_of
from ..._resolver.cdi.data_volume import default_class
from ..._resolver.kubernetes.quota.admission import QuotaObjects, check_quotas
from ..._resolver.preflight.object_keys import keys_for_expansion
from ..client.session import Session
from .kubevirt import kubevirt
from .lookup import ClusterLookup
from .snapshot import NETWORK, POD, QUOTA, STORAGE_CLASS, Unreadable, list_all, list_if_permitted

Manifest = dict[str, Any]

_LIMITS = Kind("LimitRange", "", "v1", "limitranges", True)
_AAQ = ("aaq.kubevirt.io", "v1alpha1")
_APPLICATION = Kind("ApplicationAwareResourceQuota", *_AAQ, "applicationawareresourcequotas", True)
_SHARED = Kind("ApplicationAwareClusterResourceQuota", *_AAQ, "applicationawareclusterresourcequotas", False)
# Their copies in the namespaces that they are for, which need no right beyond these.
_COPIES = Kind(
    "ApplicationAwareAppliedClusterResourceQuota", *_AAQ, "applicationawareappliedclusterresourcequotas", True
)
_CONFIGURATION = Kind("AAQ", *_AAQ, "aaqs", False)


def read_quota_effects(session: Session, vms: list[Manifest], of_running: str) -> tuple[dict[str, Any], list[str]]:
    """(the effect of quotas and limit ranges on VMs, warnings); see admission.check_quotas.

    Raises Unreadable, FieldError, ApiError and ConnectionFailed.
    """
    namespaces = {namespace_of(vm) for vm in vms}
    # One namespace needs no right beyond it.
    namespace = namespaces.pop() if len(namespaces) == 1 else None
    warnings: list[str] = []
    cluster = _quota_objects(session, namespace, warnings)._replace(
        vms=list_all(session, BY_NAME["VirtualMachine"], namespace),
        default_class=_default_class(session, vms, warnings),
    )
    kv, lookup = kubevirt(session), ClusterLookup(session)
    lookup.gather(key for vm in vms for key in keys_for_expansion(vm, kv.release))
    return check_quotas(vms, lookup, kv, cluster, of_running), warnings


def read_limits(
    session: Session, vms: Sequence[Manifest], namespace: str | None, warnings: list[str]
) -> QuotaObjects | None:
    """Reads what limits the pods of existing VMs; None if nothing does, or if the user may not list it (a warning).

    Raises ApiError and ConnectionFailed.
    """
    limits = [list_if_permitted(session, kind, warnings, namespace) for kind in (QUOTA, _LIMITS, _APPLICATION)]
    if None in limits[:2] or not (any(limits) or _shared(session, warnings, namespace)):
        return None
    unreadable: list[str] = []
    try:
        return _quota_objects(session, namespace, unreadable)._replace(vms=vms)
    except Unreadable as error:
        unreadable.append(f"quotas are not taken into account: {error}")
        return None
    finally:
        # Some lists are read twice.
        warnings += [text for text in unreadable if text not in warnings]


def _quota_objects(session: Session, namespace: str | None, warnings: list[str]) -> QuotaObjects:
    """Reads what limits existing VMs, which are left out. namespace: their namespace, None for several."""
    applications = list_if_permitted(session, _APPLICATION, warnings, namespace)
    shared = _shared(session, warnings, namespace)
    wide = [BY_NAME["Namespace"], *([_CONFIGURATION] if applications or shared else [])]
    namespaces, *configurations = (list_if_permitted(session, kind, warnings) for kind in wide)
    return QuotaObjects(
        quotas=list_all(session, QUOTA, namespace),
        limit_ranges=list_all(session, _LIMITS, namespace),
        application_quotas=applications or [],
        cluster_quotas=shared,
        aaq=next((item for items in configurations for item in items or []), None),
        namespaces=namespaces or [],
        networks=list_if_permitted(session, NETWORK, warnings),
        pods=list_all(session, POD, namespace),
        guests=(list_if_permitted(session, BY_NAME["VirtualMachineInstance"], warnings, namespace) or [])
        if applications or shared
        else [],
    )


def _shared(session: Session, warnings: list[str], namespace: str | None) -> list[Manifest]:
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
