"""Declares boot sources: volumes with images, the DataSources that name them, and the DataImportCrons that poll.

A DataSource moves when its new volume is filled; until then VMs are made of the old one, which then stays as long as
`keep` or a clone needs it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from ..._cluster.client.errors import RequestFailed
from ..._cluster.client.session import Session
from ..._cluster.reads.admission import Mutators
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.reads.watch import wait_in_namespaces
from ..._cluster.task import Task
from ..._cluster.writes.declare import declare, ownership
from ..._cluster.writes.send import NO_DRY_RUN, run_dry, send
from ..._resolver.api.keys import BOOT_SOURCE_LABEL
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import (
    Manifest,
    Progress,
    has_condition,
    labels_of,
    name_of,
    namespace_of,
    namespaced_name,
)
from ..._resolver.api.tree import copy, leaves, remove_at, set_at, value_at
from ..._resolver.api.write import create
from ..._resolver.change.declare_steps import ANY_KIND, DeclaredKind
from ..._resolver.change.declared import DeclareJob
from ..._resolver.declare import plan
from ..._resolver.declare.answer import answered
from ..._resolver.kubevirt.instancetype.lookup import get_readable
from .. import cdi_webhooks as admission
from .. import preflight, source
from ..upload_rules import UploadFailed
from .boot_source_state import (
    IMPORT,
    LABELED,
    OWN,
    BootSourceState,
    Pair,
    data_source_kind,
    declare_objects,
    foreign_problem,
    has_content,
    label_kind,
    not_failed,
    refused,
)
from .checks import resolve_contents
from .upload import upload

_VOLUME: Final = "DataVolume"
_DATA_SOURCE: Final = "DataSource"
_CRON: Final = "DataImportCron"
_CLAIM: Final = "PersistentVolumeClaim"


def boot_source_details(job: DeclareJob) -> dict[str, Any]:
    """Facts for the result: the DataSource of a boot source as last read, or the labelled object."""
    live = job.seen.live or {}
    labels = {"labels": labels_of(live)}
    if live.get("kind") not in (None, _DATA_SOURCE):
        return labels
    target = (live.get("spec") or {}).get("source") or {}
    return {"source": target, "ready": has_condition(live, "Ready"), **labels}


def declare_sources(session: Session, kind: DeclaredKind, jobs: list[DeclareJob], task: Task) -> list[DeclareJob]:
    """Declares boot sources. Returns their jobs in the same order, as `declare` does."""
    if any(job.goal.problem for job in jobs):
        return declare(session, kind, jobs, task)
    boot_sources = [BootSourceState(job) for job in jobs]
    present = [boot_source for boot_source in boot_sources if boot_source.state != "absent"]
    managed = [boot_source for boot_source in present if boot_source.state != LABELED]
    resolve_contents(session, present, task)
    _label(session, [boot_source for boot_source in present if boot_source.state == LABELED], task)
    _import(session, [item for item in not_failed(managed) if item.imports], task)
    _upload(session, [item for item in not_failed(managed) if item.uploads], task)
    _poll(session, [item for item in not_failed(managed) if item.polls], task)
    _declare_data_sources(session, [item for item in not_failed(managed) if not item.polls], task)
    old = [
        (item, volume)
        for item in not_failed(managed)
        if item.volume and item.filled
        for volume in source.outdated(_owned(session, item), item.volume, item.options["keep"])
    ]
    _delete(session, old, task)
    _delete_boot_sources(session, [item for item in boot_sources if item.state == "absent"], task)
    return jobs


def _label(session: Session, boot_sources: list[BootSourceState], task: Task) -> None:
    """Declares the labels of one existing object for each boot source."""
    lookup = ClusterLookup(session)
    pairs = [(item, _labeled(*item.job.key, item.labels)) for item in boot_sources]
    labels = label_kind(required=True, check_mode=task.check_mode)
    for boot_source, job in declare_objects(session, labels, pairs, task):
        live = job.seen.live
        boot_source.job.see(live)
        if live is not None and job.key.kind == _DATA_SOURCE:
            key = source.target_of(live)
            content = get_readable(lookup, *key) if key and key.kind != _DATA_SOURCE else None
            boot_source.job.warnings += preflight.overwritten(boot_source.labels, live, content)


def _labeled(kind: str, namespace: str, name: str, labels: dict[str, str]) -> Manifest:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": KINDS[kind].api_version, "kind": kind, "metadata": metadata}


def _import(session: Session, boot_sources: list[BootSourceState], task: Task) -> None:
    pairs = [(item, source.volume(item.options, item.content.digest, item.labels)) for item in boot_sources]
    for boot_source, job in declare_objects(session, IMPORT, pairs, task):
        done = job.seen.live is not None and source.import_status(job.seen.live).done
        # In check mode, a task that waits would find the volume filled.
        boot_source.filled = done or (task.check_mode and task.wait)


def _upload(session: Session, boot_sources: list[BootSourceState], task: Task) -> None:
    for boot_source in boot_sources:
        try:
            boot_source.filled = has_content(session, boot_source)
            if boot_source.filled:
                continue
            path = Path(boot_source.options["upload"]["path"])
            after = {"upload": str(path), **({"bytes": path.stat().st_size} if path.exists() else {})}
            boot_source.record_change(plan.APPLY, f"{boot_source.volume_kind} {boot_source.volume}", {}, after)
            if not task.check_mode:
                upload(session, boot_source, task)
                boot_source.job.written = True
            boot_source.filled = task.wait
        except (UploadFailed, RequestFailed, OSError) as error:
            boot_source.job.failed = str(error)


def _poll(session: Session, boot_sources: list[BootSourceState], task: Task) -> None:
    unchanged: list[Pair] = []
    changed: list[Pair] = []
    for boot_source in boot_sources:
        manifest = source.cron(boot_source.options, boot_source.labels)
        try:
            live = session.get(KINDS[_CRON], *boot_source.name)
        except RequestFailed as error:
            boot_source.job.failed = str(error)
            continue
        if live is None or not _differs(manifest, live):
            unchanged.append((boot_source, manifest))
            continue
        foreign = foreign_problem(name_of(manifest), _CRON, live, ownership(session, task))
        boot_source.job.failed = foreign or preflight.replacement_problem(live) or None
        admitted = None if boot_source.job.failed else _admitted(session, boot_source, manifest, task)
        if admitted is not None and not _differs(admitted, live):
            # A new one would be like this one, whatever is declared.
            _warn_of_deviations(session, boot_source, manifest, admitted)
            unchanged.append((boot_source, _with_live_spec(manifest, live)))
        else:
            changed.append((boot_source, manifest))
    declare_objects(session, IMPORT, unchanged, replace(task, wait=False))
    _replace(session, changed, task)
    if not task.wait or task.check_mode:
        return

    def probe(live: Manifest | None) -> Progress:
        return Progress(live is not None and has_condition(live, "Ready"), pending="CDI to import the image")

    by_name = {boot_source.name: boot_source for boot_source in not_failed(boot_sources)}
    probes = dict.fromkeys(by_name, probe)
    for name, waited in wait_in_namespaces(session, KINDS[_DATA_SOURCE], probes, task.wait_timeout).items():
        live, by_name[name].job.failed = waited
        by_name[name].job.see(live)


def _differs(manifest: Manifest, live: Manifest) -> bool:
    """Whether a DataImportCron has another spec than the live one: CDI rejects every change."""
    return admission.data_import_cron_refusal({**live, "spec": manifest["spec"]}, live) is not None


def _with_live_spec(manifest: Manifest, live: Manifest) -> Manifest:
    """The manifest with the values that the live object has for the declared fields of its spec."""
    result = copy(manifest)
    for field in leaves(manifest["spec"], ("spec",)):
        remove_at(result, field)
        if (value := value_at(live, field)) is not None:
            set_at(result, field, value)
    return result


def _warn_of_deviations(session: Session, boot_source: BootSourceState, manifest: Manifest, admitted: Manifest) -> None:
    manager = session.field_manager
    created = plan.present(manifest, None, None, manager)
    mutators = Mutators(session)
    lacks = partial(plan.present, manifest, admitted, None, manager)
    for deviation in answered(created, None, admitted, lacks, manager).deviations:
        cause = mutators.of(KINDS[_CRON], namespace_of(manifest))
        boot_source.job.warn(f"{_CRON} {name_of(manifest)}: {deviation.line(cause)}")


def _replace(session: Session, pairs: list[Pair], task: Task) -> None:
    """Makes DataImportCrons anew that CDI and the API server accept."""
    if not task.check_mode:
        declare_objects(session, ANY_KIND, pairs, replace(task, wait=True), "absent")
    # CDI would reject the dry run of a new spec, because the old DataImportCron still exists.
    unchecked = replace(task, server_dry_run=False, wait=False)
    for boot_source, job in declare_objects(session, IMPORT, pairs, unchecked):
        if job.failed and not task.check_mode:
            boot_source.job.failed = (
                f"{boot_source.job.failed}; the old DataImportCron is deleted, so run the task again"
            )


def _admitted(session: Session, boot_source: BootSourceState, manifest: Manifest, task: Task) -> Manifest | None:
    """A new DataImportCron as the API server would store it; None if it does not tell. A refusal fails the boot source.

    None is deleted before CDI's rules and the API server accept the new one: without either, nothing would poll the
    registry.
    """
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "name"}
    # The old one has the name.
    unnamed = {**manifest, "metadata": {**metadata, "generateName": f"{name_of(manifest)}-"}}
    write = create(KINDS[_CRON].path(boot_source.options["namespace"]), unnamed)
    write = write._replace(query=(("fieldManager", session.field_manager),))
    answers: list[Manifest | None] = []

    def dry_run(_job: DeclareJob) -> None:
        answers.append(send(session.dry_run_session(), write))

    problem = "; ".join(finding.text for finding in refused(manifest))
    if not problem and not task.check_mode:
        try:
            dry_run(boot_source.job)
        except RequestFailed as error:
            problem = "" if NO_DRY_RUN in str(error) else str(error)
    elif not problem and task.server_dry_run:
        run_dry(boot_source.job, dry_run)
        problem = boot_source.job.failed or ""
    boot_source.job.failed = f"{problem}; the DataImportCron stays as it was" if problem else None
    return next(iter(answers), None) or None


def _declare_data_sources(session: Session, boot_sources: list[BootSourceState], task: Task) -> None:
    unfilled = {boot_source.name for boot_source in boot_sources if not boot_source.filled}
    due = [item for item in boot_sources if item.has_data_source]
    pairs = [(item, source.data_source(item.options, item.volume, item.labels)) for item in due]
    for boot_source, job in declare_objects(session, data_source_kind(unfilled), pairs, task):
        boot_source.job.see(job.seen.live)
        if job.seen.live is not None and not boot_source.filled:
            boot_source.job.warnings.append(
                f"the DataSource will refer to {boot_source.volume} when that is filled; run the task again"
            )
    # The claim or snapshot of the DataSource, because CDI overwrites labels of the DataSource with its labels.
    claims = [(item, _labeled(*item.content_key, item.labels)) for item in boot_sources if item.labels and item.filled]
    declare_objects(session, label_kind(required=False, check_mode=task.check_mode), claims, replace(task, wait=False))


def _delete_boot_sources(session: Session, boot_sources: list[BootSourceState], task: Task) -> None:
    """Deletes boot sources and the volumes created for them."""
    # The DataImportCron first, because it would create the other objects again.
    for kind in (_CRON, _DATA_SOURCE):
        pairs = [(boot_source, _labeled(kind, *boot_source.name, {})) for boot_source in boot_sources]
        declare_objects(session, OWN, pairs, task, "absent")
    volumes = [(item, volume) for item in not_failed(boot_sources) for volume in _owned(session, item)]
    _delete(session, volumes, task)


def _owned(session: Session, boot_source: BootSourceState) -> list[Manifest]:
    """The volumes that a task or the DataImportCron created for a boot source."""
    volumes: dict[tuple[str, str], Manifest] = {}
    kinds = [(_VOLUME, BOOT_SOURCE_LABEL), (_VOLUME, source.CRON)]
    if boot_source.uploads or boot_source.state == "absent":
        kinds.append((_CLAIM, BOOT_SOURCE_LABEL))
    for name, label in kinds:
        query = {"labelSelector": f"{label}={boot_source.options['name']}"}
        try:
            items = session.list(KINDS[name], boot_source.options["namespace"], **query)
        except RequestFailed as error:
            boot_source.job.warnings.append(f"old volumes stay: {error}")
            return []
        for item in items:
            # CDI deletes the claim of a DataVolume with it.
            if name == _VOLUME or not item["metadata"].get("ownerReferences"):
                volumes[name, item["metadata"]["name"]] = item
    return list(volumes.values())


def _delete(session: Session, pairs: list[Pair], task: Task) -> None:
    try:
        clones = source.clones_by_claim(session.list(KINDS[_VOLUME]) if pairs else ())
    except RequestFailed as error:
        for boot_source, _volume in pairs:
            boot_source.job.warnings.append(f"old volumes stay, since it is not known who clones them: {error}")
        return
    for boot_source, volume in pairs:
        if clone := clones.get(namespaced_name(volume)):
            boot_source.job.warnings.append(f"the volume {name_of(volume)} stays, since {clone} is cloned from it")
    due = [pair for pair in pairs if namespaced_name(pair[1]) not in clones]
    declare_objects(session, ANY_KIND, due, task, "absent")
