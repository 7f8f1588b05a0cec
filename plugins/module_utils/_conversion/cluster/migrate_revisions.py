"""The state `upgraded` of controller_revision: converts ControllerRevisions of older API versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..._cluster.client.errors import RequestFailed
from ..._cluster.client.session import Session
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.task import Task
from ..._cluster.writes.send import run_writes, send, send_create
from ..._resolver.api.errors import KubeVirtError, value_or_none
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import MATCHER_FIELDS, ObjectKey
from ..._resolver.api.write import delete, json_patch
from ..._resolver.change.drift import Drift
from ..._resolver.change.step import VM, Job
from ..._resolver.kubevirt.instancetype import revision_names
from ..._resolver.kubevirt.vm.migrate_revisions import Action, Create, Delete
from ..convert import convert

_REVISION = KINDS["ControllerRevision"]
_VM = KINDS["VirtualMachine"]

MigrationJob = Job[Drift]
"""A VM whose revisions have older API versions."""


def migrate_revisions(session: Session, vms: list[Drift], task: Task) -> list[MigrationJob]:
    """Converts revisions of older API versions. Failures go into the jobs."""
    jobs: list[MigrationJob] = [Job(ObjectKey(VM.kind, vm.namespace, vm.name), vm) for vm in vms]
    due = {vm.namespace for vm in vms if value_or_none(convert, vm.vm, vm.cluster.objects)}
    # This reads all VMs of the namespace, because others than the selected may refer to the same revisions.
    shared = {namespace: _shared_revisions(session.list(_VM, namespace)) for namespace in sorted(due)}
    run_writes(jobs, lambda job: _migrate(session, job, shared, task.check_mode), task)
    return jobs


def _shared_revisions(vms: Iterable[Manifest]) -> set[str]:
    """The revisions to which more than one VM refers."""
    users = Counter(
        name for vm in vms for name in {revision_names.referenced_revision(vm, field).name for field in MATCHER_FIELDS}
    )
    return {name for name, count in users.items() if count > 1}


def _migrate(session: Session, job: MigrationJob, shared: dict[str, set[str]], check_mode: bool) -> None:
    before = job.goal
    try:
        actions = convert(before.vm, before.cluster.objects, shared.get(before.namespace, ()))
    except KubeVirtError as error:
        job.failed = error.message
        return
    job.acted = bool(actions)
    try:
        for action in () if check_mode else actions:
            _write(session, action)
            job.written = True
    except RequestFailed:
        if not _is_done(session, before):
            raise


def _is_done(session: Session, before: Drift) -> bool:
    """Whether nothing is left to do: KubeVirt rejects a repeated patch if the first succeeded and its response was
    lost.
    """
    try:
        live = session.get(_VM, before.namespace, before.name)
        return live is not None and not convert(live, ClusterLookup(session))
    except (RequestFailed, KubeVirtError):
        return False


def _write(session: Session, action: Action) -> None:
    if isinstance(action, Create):
        manifest = {**action.manifest, "apiVersion": _REVISION.api_version, "kind": _REVISION.kind}
        send_create(session, _REVISION, action.namespace, manifest)
    elif isinstance(action, Delete):
        send(session, delete(_REVISION.path(action.namespace, action.name), action.uid))
    else:
        send(session, json_patch(_VM.path(action.namespace, action.name, action.subresource or None), action.patch))
