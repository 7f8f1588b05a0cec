"""What goes with a VM that is deleted, and what the cluster keeps."""

from __future__ import annotations

import time
from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.declare.claims import claims, owned_by
from ..._resolver.instancetype.find.lookup import Problem
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.lookup import ClusterLookup
from ..read.watch import State, wait_for

Manifest = dict[str, Any]

_REVISION = BY_NAME["ControllerRevision"]
_VMI = BY_NAME["VirtualMachineInstance"]


def kept(session: Session, vms: list[Manifest]) -> list[list[dict[str, str]]]:
    """For each VM the claims of its volumes that outlive it, [{kind, name}]: those that it does not own.

    A claim is owned directly or by a DataVolume that the VM owns. Where claims cannot be read, a DataVolume of the
    VM's own templates counts as owned.
    """
    lookup = ClusterLookup(session)
    return [[{"kind": "PersistentVolumeClaim", "name": name} for name in _outliving(vm, lookup)] for vm in vms]


def _outliving(vm: Manifest, lookup: ClusterLookup) -> list[str]:
    namespace, uid = vm["metadata"]["namespace"], vm["metadata"]["uid"]
    templates = {one["metadata"].get("name") for one in vm["spec"].get("dataVolumeTemplates") or []}

    def outlives(name: str) -> bool:
        claim = lookup.get("PersistentVolumeClaim", namespace, name)
        if isinstance(claim, Problem):
            return name not in templates
        if claim is None:
            return False
        if owned_by(claim, uid):
            return False
        volume = lookup.get("DataVolume", namespace, name)
        if isinstance(volume, Problem):
            return name not in templates
        return volume is None or not (owned_by(claim, volume["metadata"]["uid"]) and owned_by(volume, uid))

    return [name for name in claims(vm) if outlives(name)]


def remains(session: Session, namespace: str | None, deleted: list[Manifest], seconds: float) -> dict[str, str]:
    """Waits until VMIs and ControllerRevisions of deleted VMs are gone, too; the failures by the VMs' names.

    The finalizer of a VM goes after its VMI, but not where the VM was deleted with propagation Orphan; the garbage
    collector takes the revisions.
    """
    deadline = time.monotonic() + seconds
    names = {vm["metadata"]["uid"]: vm["metadata"]["name"] for vm in deleted}
    failures: dict[str, str] = {}
    for kind in (_VMI, _REVISION):
        try:
            items, _version = session.list(kind, namespace, True)
        except (ApiError, ConnectionFailed) as error:
            return {**dict.fromkeys(names.values(), explain(error, "LIST", kind)), **failures}
        owners = {item["metadata"]["name"]: uid for item in items for uid in names if owned_by(item, uid)}

        def look(_name: str, item: Manifest | None, owners: dict[str, str] = owners) -> State:
            gone = item is None or not any(owned_by(item, uid) for uid in owners.values())
            return State(done=gone, pending="the object to disappear")

        left = max(0.0, deadline - time.monotonic())
        waited = wait_for(session, kind, namespace, owners, look, left, metadata_only=True) if owners else {}
        for name, ended in waited.items():
            if ended.failure is not None:
                failures.setdefault(names[owners[name]], f"{kind.kind} {name}: {ended.failure}")
    return failures
