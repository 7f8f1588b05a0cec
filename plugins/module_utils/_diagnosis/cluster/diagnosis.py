"""The diagnoses of VMs for the module virtual_machine_info: reads what the chain is judged by, one list each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt_object
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.reads.revisions import InspectedVM
from ..._cluster.reads.snapshot import EVENT, POD, list_if_permitted
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, namespace_of
from ..case import CLAIM, DATA_VOLUME, KINDS_READ, LEASE, MIGRATION, NODE, STORAGE_CLASS, VMI, Fleet, NodeReasons
from ..chain import diagnose
from ..pods import waits_for_node

Result = dict[str, Any]

_READ = {
    MIGRATION: Kind(MIGRATION, "kubevirt.io", "v1", "virtualmachineinstancemigrations", True),
    LEASE: Kind(LEASE, "coordination.k8s.io", "v1", "leases", True),
    EVENT.kind: EVENT,
    POD.kind: POD,
    **{kind: KINDS[kind] for kind in (CLAIM, DATA_VOLUME, STORAGE_CLASS, NODE)},
}
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def diagnosis(
    session: Session,
    vms: Sequence[InspectedVM],
    namespace: str | None,
    warnings: list[str],
    node_reasons: NodeReasons | None = None,
) -> list[Result]:
    """The diagnosis of each VM; see `chain.diagnose`. What the user may not list adds a warning.

    One LIST for each kind, however many VMs there are. namespace: of the VMs, None for all. node_reasons: see Fleet.
    """
    if not vms:
        return []
    objects: dict[str, Sequence[Manifest]] = {VMI: [vm.vmi for vm in vms if vm.vmi is not None]}
    for name in KINDS_READ:
        if name != VMI and (items := _listed(session, name, namespace, warnings)) is not None:
            # Items of a list do not name their kind.
            objects[name] = [{"kind": name, "apiVersion": _READ[name].api_version, **item} for item in items]
    if namespace is not None and any(waits_for_node(pod) for pod in objects.get(POD.kind, ())):
        # What the nodes have left depends on the pods of all namespaces.
        everywhere = list_if_permitted(session, POD, warnings)
        objects[POD.kind] = objects[POD.kind] if everywhere is None else everywhere
    at = datetime.now(timezone.utc).strftime(_TIME)
    fleet = Fleet(objects, at, _lister(vms[0]), node_reasons)
    return [diagnose(fleet.case(vm.drift, vm.vmi)) for vm in vms]


def _listed(session: Session, name: str, namespace: str | None, warnings: list[str]) -> list[Manifest] | None:
    if name != LEASE:
        return list_if_permitted(session, _READ[name], warnings, namespace)
    live = kubevirt_object(session)
    return None if live is None else list_if_permitted(session, _READ[LEASE], warnings, namespace_of(live))


def _lister(vm: InspectedVM) -> Any:
    lookup = vm.objects
    return lookup.list if isinstance(lookup, ClusterLookup) else lambda _kind, _namespace: []
