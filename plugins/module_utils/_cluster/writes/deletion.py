"""Waits for the dependents of deleted VMs."""

from __future__ import annotations

import time

from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.api.matcher import MATCHER_FIELDS, ObjectKey
from ..._resolver.kubevirt.instancetype import revision_names
from ..._resolver.preflight.references import sole_owner
from ..client.concurrency import seconds_left
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.snapshot import read_objects
from ..reads.watch import wait_for

_REVISION = KINDS["ControllerRevision"]
_VMI = KINDS["VirtualMachineInstance"]
_VM = KINDS["VirtualMachine"]
_DATA_VOLUME = KINDS["DataVolume"]


def await_dependents(
    session: Session, namespace: str | None, deleted: list[Manifest], timeout: float
) -> dict[str, str]:
    """Waits until the VMIs and ControllerRevisions of deleted VMs are gone. Returns the failures by VM name.

    KubeVirt's finalizer removes a VM after its VMI, except if the VM was deleted with propagation policy Orphan. The
    garbage collector removes the revisions.
    """
    deadline = time.monotonic() + timeout
    names = {vm["metadata"]["uid"]: vm["metadata"]["name"] for vm in deleted}
    failures: dict[str, str] = {}
    for kind in (_VMI, _REVISION):
        try:
            items = session.list(kind, namespace, True)
        except RequestFailed as error:
            return {**dict.fromkeys(names.values(), str(error)), **failures}
        owners = {item["metadata"]["name"]: uid for item in items if (uid := sole_owner(item)) in names}
        for name, failure in _await_gone(session, kind, namespace, owners, deadline).items():
            failures.setdefault(names[owners[name]], f"{kind.kind} {name}: {failure}")
    return failures


def await_old_dependents(
    session: Session, namespace: str | None, created: list[Manifest], timeout: float
) -> dict[str, str]:
    """Waits until the revisions and DataVolumes of deleted VMs with the names of these VMs are gone.

    KubeVirt uses what exists: a revision, whose name contains the VM's name but not its UID
    (`storeControllerRevision`), and the DataVolume of a template (`handleDataVolumes`). A VM that is created before the
    garbage collector has deleted the dependents of the earlier VM would lose them. Returns the failures by VM name. The
    task does not wait for kinds that it may not list.
    """
    deadline = time.monotonic() + timeout
    capturing = {
        vm["metadata"]["name"]
        for vm in created
        if any(matcher_field.matcher_of(vm) for matcher_field in MATCHER_FIELDS)
    }
    with_templates = {vm["metadata"]["name"] for vm in created if vm["spec"].get("dataVolumeTemplates")}
    failures: dict[str, str] = {}
    for kind, names in ((_REVISION, capturing), (_DATA_VOLUME, with_templates)):
        if names:
            failures = {**_without_owner(session, kind, namespace, names, deadline), **failures}
    return failures


def _without_owner(
    session: Session, kind: Kind, namespace: str | None, names: set[str], deadline: float
) -> dict[str, str]:
    """Waits for the dependents of VMs with these names that do not exist. Returns the failures by VM name."""
    try:
        items = session.list(kind, namespace, True)
        owners = {item["metadata"]["name"]: owner for item in items if (owner := _owner(item))["name"] in names}
        # Another client may have created the VM since this task looked.
        live = read_objects(session, [ObjectKey(_VM.kind, namespace or "", owner["name"]) for owner in owners.values()])
    except RequestFailed as error:
        return {} if error.code in (403, 404) else dict.fromkeys(names, str(error))
    uids = {vm["metadata"]["uid"] for vm in live.values()}
    remaining = {name: owner["uid"] for name, owner in owners.items() if owner["uid"] not in uids}
    return {
        owners[name]["name"]: f"{kind.kind} {name} of the deleted virtual machine: {failure}"
        for name, failure in _await_gone(session, kind, namespace, remaining, deadline).items()
    }


def _owner(item: Manifest) -> Manifest:
    """The name and UID of the VM that alone owns an object; "" if there is none, or for the revision of a start."""
    metadata = item["metadata"]
    owners = metadata.get("ownerReferences") or []
    counts = (
        len(owners) == 1 and owners[0].get("kind") == _VM.kind and not metadata["name"].startswith(revision_names.START)
    )
    owner = owners[0] if counts else {}
    return {"name": owner.get("name", ""), "uid": owner.get("uid", "")}


def _await_gone(
    session: Session, kind: Kind, namespace: str | None, owners: dict[str, str], deadline: float
) -> dict[str, str]:
    """Waits until dependents are gone. owners: the UID of each one's owner, by name. Returns the failures by name."""
    uids = set(owners.values())

    def probe(_name: str, item: Manifest | None) -> Progress:
        gone = item is None or sole_owner(item) not in uids
        return Progress(done=gone, pending="the object to disappear")

    if not owners:
        return {}
    waited = wait_for(session, kind, namespace, owners, probe, seconds_left(deadline), metadata_only=True)
    return {name: failure for name, (_live, failure) in waited.items() if failure is not None}
