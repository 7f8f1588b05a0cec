"""The dependents of a deleted VM, and the claims that outlive it."""

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
    """For each VM, the claims of its volumes that outlive it, [{kind, name}].

    A claim goes with the VM if the VM owns it, directly or through a DataVolume. If the task may not read claims, it
    assumes that the VM owns the DataVolumes of its templates.
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
    """Waits until the VMIs and ControllerRevisions of deleted VMs are gone. Returns the failures by VM name.

    KubeVirt's finalizer removes a VM after its VMI, except if the VM was deleted with propagation policy Orphan. The
    garbage collector removes the revisions.
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
