"""Deletes revisions that nothing refers to, and stores old ones anew."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .._resolver import revision, upgrade
from .._resolver.revision_change import unreferenced
from .._resolver.store import Create, Delete, PatchSpec, PatchStatus
from .errors import ApiError, ConnectionFailed, explain
from .kinds import BY_NAME, Kind
from .lookup import ClusterLookup
from .revisions import Inspected
from .session import Session

__all__ = ["Pruned", "prunable", "prune", "upgrade_revisions"]

Manifest = dict[str, Any]

_REVISION = BY_NAME["ControllerRevision"]
_VM = BY_NAME["VirtualMachine"]
_SNAPSHOTS = ("snapshot.kubevirt.io", "v1beta1")
_CONTENT = Kind("VirtualMachineSnapshotContent", *_SNAPSHOTS, "virtualmachinesnapshotcontents", True)


@dataclass
class Pruned:
    """A revision that nothing refers to. failed: why it could not be deleted."""

    namespace: str
    name: str
    failed: str | None = None


def prunable(session: Session, namespace: str, seen: list[Inspected], keep: int) -> list[Pruned]:
    """Revisions of instancetypes and preferences that no VM, snapshot or restore of the namespace refers to.

    seen: ALL VMs of the namespace. keep: how many of the newest of each VM and object are kept besides.
    """
    revisions = seen[0].revisions if seen else list(ClusterLookup(session).list("ControllerRevision", namespace))
    idle = unreferenced([one.vm for one in seen], revisions, _of_snapshots(session, namespace))
    groups: dict[tuple[str, str], list[Manifest]] = {}
    for one in idle:
        owners = [str(owner["uid"]) for owner in one["metadata"].get("ownerReferences") or []]
        groups.setdefault((",".join(owners), revision.labels(one).get(revision.UID_LABEL, "")), []).append(one)
    return [
        Pruned(namespace, one["metadata"]["name"])
        for group in groups.values()
        for one in group[: max(0, len(group) - keep)]
    ]


def prune(session: Session, found: list[Pruned], concurrency: int) -> None:
    def one(pruned: Pruned) -> None:
        try:
            session.request("DELETE", _REVISION.path(pruned.namespace, pruned.name))
        except ApiError as error:
            pruned.failed = None if error.code == 404 else explain(error, "DELETE", _REVISION)
        except ConnectionFailed as error:
            pruned.failed = str(error)

    with ThreadPoolExecutor(max_workers=max(1, concurrency)) as pool:
        list(pool.map(one, found))


def _of_snapshots(session: Session, namespace: str) -> set[str]:
    """Names of revisions in snapshots: each holds the VM as it was. A restore uses what its snapshot holds."""
    try:
        contents, _version = session.list(_CONTENT, namespace)
    except ApiError as error:
        if error.code == 404:
            return set()  # the cluster has no snapshots of VMs
        raise
    return {name for content in contents for name in _names(content.get("spec"))}


def _names(value: Any) -> set[str]:
    """Every revision name in a part of a snapshot."""
    if isinstance(value, dict):
        own = {value["revisionName"]} if value.get("revisionName") else set()
        reference = value.get("controllerRevisionRef")
        own |= {reference["name"]} if isinstance(reference, dict) and reference.get("name") else set()
        return own.union(*(_names(entry) for entry in value.values()))
    if isinstance(value, list):
        return set().union(*(_names(entry) for entry in value))
    return set()


def upgrade_revisions(session: Session, seen: Inspected, check_mode: bool) -> tuple[bool, str | None]:
    """Stores revisions of an older version anew, as virt-controller does at its next look at the VM.

    Returns whether there was anything to do, and why it failed or None.
    """
    lookup = ClusterLookup(session)
    writes = upgrade.upgrade(seen.vm, lookup)
    if writes.error is not None:
        return False, writes.error.message
    try:
        for action in () if check_mode else writes.actions:
            _write(session, action)
    except (ApiError, ConnectionFailed) as error:
        return True, explain(error, "PATCH", _VM)
    return bool(writes.actions), None


def _write(session: Session, action: Create | Delete | PatchStatus | PatchSpec) -> None:
    if isinstance(action, Create):
        manifest = {**action.manifest, "apiVersion": _REVISION.api_version, "kind": _REVISION.kind}
        session.request("POST", _REVISION.path(action.namespace), body=manifest)
    elif isinstance(action, Delete):
        session.request("DELETE", _REVISION.path(action.namespace, action.name))
    else:
        part = "status" if isinstance(action, PatchStatus) else None
        path = _VM.path(action.namespace, action.name, part)
        session.request("PATCH", path, body=action.patch, content_type="application/json-patch+json")
