"""The diagnoses of VMs for the module virtual_machine_info: reads what the chain is judged by, one list each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from functools import partial
from typing import Any

from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt_object
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.reads.surroundings import list_if_permitted
from ..._resolver.api.manifest import Manifest, namespace_of
from ..._resolver.change.drift import Drift
from ..case import KINDS_READ, LEASE, POD, REVISION, VMI, Fleet, NodeReasons
from ..chain import diagnose
from ..scheduling import waits_for_node

Result = dict[str, Any]

Diagnosis = Callable[[Session, "list[Drift]", "str | None", "list[str]"], "list[Result]"]
"""The diagnosis of each VM, of the VMs, their namespace or None, and the list of warnings to add to."""
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def diagnoser(node_reasons: NodeReasons | None = None) -> Diagnosis:
    """Diagnoses the VMs of a cluster: (session, VMs, their namespace or None for all, warnings); see `chain.diagnose`.

    One LIST for each kind, however many VMs there are. A kind that may not be listed adds a warning. node_reasons: see
    `Fleet`.
    """
    return partial(_diagnoses, node_reasons)


def _diagnoses(
    node_reasons: NodeReasons | None,
    session: Session,
    vms: Sequence[Drift],
    namespace: str | None,
    warnings: list[str],
) -> list[Result]:
    if not vms:
        return []
    # The drift of the VMs has all revisions, or they could not have been inspected.
    known_vmis = [vm.known_vmi for vm in vms if vm.known_vmi is not None]
    objects: dict[str, Sequence[Manifest]] = {VMI: known_vmis, REVISION: ()}
    for name in KINDS_READ:
        if name != VMI and (items := _listed(session, name, namespace, warnings)) is not None:
            objects[name] = items
    if namespace is not None and any(waits_for_node(pod) for pod in objects.get(POD, ())):
        # The free room of nodes depends on the pods of all namespaces.
        everywhere = list_if_permitted(session, KINDS_READ[POD], warnings)
        objects[POD] = objects[POD] if everywhere is None else everywhere
    at = datetime.now(timezone.utc).strftime(_TIME)
    fleet = Fleet(objects, at, _lister(vms[0]), node_reasons)
    return [diagnose(fleet.case(vm)) for vm in vms]


def _listed(session: Session, name: str, namespace: str | None, warnings: list[str]) -> list[Manifest] | None:
    if name != LEASE:
        return list_if_permitted(session, KINDS_READ[name], warnings, namespace)
    live = kubevirt_object(session)
    return None if live is None else list_if_permitted(session, KINDS_READ[LEASE], warnings, namespace_of(live))


def _lister(vm: Drift) -> Any:
    lookup = vm.cluster.objects
    return lookup.list if isinstance(lookup, ClusterLookup) else lambda _kind, _namespace: []
