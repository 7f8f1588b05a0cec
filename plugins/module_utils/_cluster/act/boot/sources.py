"""Makes boot sources: volumes with images, the DataSources that lead to them, and what polls registries.

A DataSource moves when its new volume is filled; until then VMs are made of the old one, which then stays as long as
`keep` or a clone needs it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ...._resolver.api.kinds import BY_NAME
from ...._resolver.api.write import create
from ...._resolver.boot import preflight as beforehand
from ...._resolver.boot import source
from ...._resolver.boot.upload import wish_of
from ...._resolver.cdi import admission
from ...._resolver.declare import plan
from ...client import upload_proxy
from ...client.errors import ApiError, ConnectionFailed, explain
from ...client.session import Session
from ...read.watch import State, wait_for
from ..dry_run import NO_DRY_RUN, rehearse
from ..engine import send
from ..handlers.boot_source import Claims, Crons, DataSources, Volumes, cron_refused
from ..settings import Settings
from ..subject import Entry, Result, Subject
from .checks import identify
from .labels import label
from .progress import Progress
from .removal import remove, tidy
from .upload import UploadFailed, Way, upload
from .work import LABELED, Pair, Work, declared, going, is_filled

Manifest = dict[str, Any]
Options = dict[str, Any]

_VOLUME: Final = "DataVolume"
_SOURCE: Final = "DataSource"
_CRON: Final = "DataImportCron"
_CLAIM: Final = "PersistentVolumeClaim"
_SNAPSHOT: Final = "VolumeSnapshot"


class BootSources(Subject):
    """Describes boot sources: the DataSource as last seen, or the labelled object."""

    def __init__(self, _options: Options) -> None:
        super().__init__("boot sources")

    def describe(self, live: Manifest) -> dict[str, Any]:
        labels = {"labels": live["metadata"].get("labels") or {}}
        if live.get("kind") not in (None, _SOURCE):
            return labels
        leads = (live.get("spec") or {}).get("source") or {}
        return {"source": leads, "ready": source.is_ready(live), **labels}


def declare_sources(session: Session, subject: Subject, entries: list[Entry], settings: Settings) -> list[Result]:
    """Results in the order of the entries, as `declare` gives them."""
    results = [Result(entry, failed=entry.problem) for entry in entries]
    if any(result.failed for result in results):
        for result in results:
            result.left = None if result.failed else "not sent because other entries are invalid"
        return results
    works = [Work(result) for result in results]
    present = [work for work in works if work.state != "absent"]
    identify(session, present, settings)
    label(session, going(present, lambda work: work.state == LABELED), settings)
    whole = [work for work in present if work.state != LABELED]
    _import(session, going(whole, lambda work: work.imports), settings)
    _upload(session, going(whole, lambda work: work.uploads), settings)
    _poll(session, going(whole, lambda work: work.polls), settings)
    _lead(session, going(whole, lambda work: not work.polls), settings)
    tidy(session, going(whole, lambda work: bool(work.volume) and work.filled), settings)
    remove(session, [work for work in works if work.state == "absent"], settings)
    return results


def _import(session: Session, works: list[Work], settings: Settings) -> None:
    pairs = [(work, source.volume(work.options, work.content.digest, work.labels)) for work in works]
    for (work, _manifest), result in zip(pairs, declared(session, Volumes(), pairs, settings)):
        done = result.live is not None and source.fate(result.live).done
        # In check mode, a task that waits would find the volume filled.
        work.filled = done or (settings.check_mode and settings.wait)


def _upload(session: Session, works: list[Work], settings: Settings) -> None:
    for work in works:
        try:
            work.filled = is_filled(session, work)
            if work.filled:
                continue
            work.result.action = plan.APPLY
            path = work.options["upload"]["path"]
            work.result.after[f"{work.volume_kind} {work.volume}"] = {
                "upload": path,
                "bytes": Path(path).stat().st_size,
            }
            if not settings.check_mode:
                _send(session, work, settings)
                work.result.written = True
            work.filled = settings.wait
        except (UploadFailed, ConnectionFailed, OSError) as error:
            work.result.failed = str(error)
        except ApiError as error:
            work.result.failed = explain(error, "POST", BY_NAME[work.volume_kind])


def _send(session: Session, work: Work, settings: Settings) -> None:
    options, proxy = work.options, work.options.get("upload_proxy") or {}
    file_options = options["upload"]
    # The DataSource is declared later, as that of any boot source.
    wish = wish_of(options, work.volume, work.labels)._replace(
        data_source=False, owner={source.OWNER: options["name"]}, digest=work.content.digest
    )
    pool = upload_proxy.connections(proxy.get("validate_certs") is not False, proxy.get("ca_cert"))
    timeout = settings.wait_timeout if settings.wait else 0
    progress = Progress(work.volume, Path(file_options["path"]).stat().st_size)
    way = Way(
        pool,
        proxy.get("url") or "",
        tries=file_options["tries"],
        ready_timeout=file_options["ready_timeout"],
        timeout=timeout,
        told=progress.told,
    )
    with Path(file_options["path"]).open("rb") as file:
        try:
            upload(session, wish, file, way)
        except UploadFailed as error:
            far = f" ({progress.read} bytes of the file had been read)" if progress.read else ""
            raise UploadFailed(f"{error}{far}") from error


def _poll(session: Session, works: list[Work], settings: Settings) -> None:
    same: list[Pair] = []
    other: list[Pair] = []
    for work in works:
        manifest = source.cron(work.options, work.labels)
        try:
            live = session.get(BY_NAME[_CRON], work.options["namespace"], work.options["name"])
        except (ApiError, ConnectionFailed) as error:
            work.result.failed = explain(error, "GET", BY_NAME[_CRON])
            continue
        # CDI rejects every change of a DataImportCron.
        if live is not None and admission.data_import_cron_refusal({**live, "spec": manifest["spec"]}, live):
            work.result.failed = beforehand.lost_with(live) or None
            other.append((work, manifest))
        else:
            same.append((work, manifest))
    declared(session, Crons(), same, replace(settings, wait=False))
    _replace(session, [pair for pair in other if not pair[0].result.failed], settings)
    if settings.wait and not settings.check_mode:
        _await_cron(session, going(works), settings)


def _replace(session: Session, pairs: list[Pair], settings: Settings) -> None:
    """Makes DataImportCrons anew. None is deleted before CDI's rules and the API server accept the new one: without
    either, nothing would poll the registry."""
    for work, manifest in pairs:
        _check_new(session, work, manifest, settings)
    due = [pair for pair in pairs if not pair[0].result.failed]
    if not settings.check_mode:
        declared(session, Subject("crons"), due, replace(settings, wait=True), "absent")
    due = [pair for pair in due if not pair[0].result.failed]
    # CDI would reject the dry run of a new spec, because the old DataImportCron still exists.
    declared(session, Crons(), due, replace(settings, server_dry_run=False, wait=False))
    for work, _manifest in due:
        if work.result.failed and not settings.check_mode:
            work.result.failed += "; the old DataImportCron is deleted, so run the task again"


def _check_new(session: Session, work: Work, manifest: Manifest, settings: Settings) -> None:
    kind = BY_NAME[_CRON]

    def ask() -> None:
        try:
            send(session.rehearsal(), create(kind.path(work.options["namespace"]), manifest))
        except ApiError as error:
            # The name is the last thing that the API server looks at: all else is accepted.
            if error.reason != "AlreadyExists":
                raise

    refused = "; ".join(finding.text for finding in cron_refused(manifest))
    if not refused and not settings.check_mode:
        try:
            ask()
        except (ApiError, ConnectionFailed) as error:
            refused = "" if NO_DRY_RUN in str(error) else explain(error, "POST", kind)
    elif not refused and settings.server_dry_run:
        rehearse(work.result, ask, "POST", kind)
        refused = work.result.failed or ""
    work.result.failed = f"{refused}; the DataImportCron stays as it was" if refused else None


def _await_cron(session: Session, works: list[Work], settings: Settings) -> None:
    deadline = time.monotonic() + settings.wait_timeout
    for namespace in sorted({work.options["namespace"] for work in works}):
        own = {work.options["name"]: work for work in works if work.options["namespace"] == namespace}

        def look(_name: str, live: Manifest | None) -> State:
            return State(live is not None and source.is_ready(live), pending="CDI to import the image")

        seconds = max(0.0, deadline - time.monotonic())
        for name, ended in wait_for(session, BY_NAME[_SOURCE], namespace, own, look, seconds).items():
            own[name].result.live = ended.object
            own[name].result.failed = ended.failure


def _lead(session: Session, works: list[Work], settings: Settings) -> None:
    stay = {(work.options["namespace"], work.options["name"]) for work in works if not work.filled}
    pairs = [(work, source.data_source(work.options, work.volume, work.labels)) for work in works if work.leads]
    for (work, _manifest), result in zip(pairs, declared(session, DataSources(stay), pairs, settings)):
        work.result.live = result.live
        if result.live is not None and (work.options["namespace"], work.options["name"]) in stay:
            work.result.warnings.append(
                f"the DataSource leads to {work.volume} when that is filled; run the task again"
            )
    claims = [(work, _claim(work)) for work in works if work.labels and work.filled]
    declared(session, Claims(), [pair for pair in claims if not pair[0].result.failed], replace(settings, wait=False))


def _claim(work: Work) -> Manifest:
    """The claim or snapshot of the DataSource with the labels, because CDI copies its labels over those of the
    DataSource."""
    kind = _SNAPSHOT if work.options.get("snapshot") else _CLAIM
    named = work.options.get("pvc") or work.options.get("snapshot") or {"name": work.volume}
    namespace = named.get("namespace") or work.options["namespace"]
    metadata = {"name": named["name"], "namespace": namespace, "labels": work.labels}
    return {"apiVersion": BY_NAME[kind].api_version, "kind": kind, "metadata": metadata}
