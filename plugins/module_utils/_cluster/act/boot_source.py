"""Makes boot sources: volumes with images, the DataSources that lead to them, and what polls registries.

A DataSource moves when its new volume is filled; until then VMs are made of the old one, which then stays as long as
`keep` or a clone needs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.boot import admission, source
from ..._resolver.boot.upload import Upload
from ..._resolver.declare import plan
from ..client import upload_proxy
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.image import Content, file_of, image_of
from ..read.snapshot import Key
from ..read.watch import State, wait_for
from .declare import declare, judge
from .handlers.boot_source import Claims, Crons, DataSources, Volumes, missing
from .subject import Entry, Result, Settings, Subject
from .upload import UploadFailed, Way, upload

Manifest = dict[str, Any]
Options = dict[str, Any]

_VOLUME: Final = "DataVolume"
_SOURCE: Final = "DataSource"
_CRON: Final = "DataImportCron"
_CLAIM: Final = "PersistentVolumeClaim"
_SNAPSHOT: Final = "VolumeSnapshot"


class BootSources(Subject):
    """What is told of a boot source: of its DataSource as last seen."""

    def __init__(self, _options: Options) -> None:
        super().__init__("boot sources")

    def describe(self, live: Manifest) -> dict[str, Any]:
        leads = (live.get("spec") or {}).get("source") or {}
        return {"source": leads, "ready": source.is_ready(live), "labels": live["metadata"].get("labels") or {}}


_UNKNOWN: Final = Content()


@dataclass
class _Work:
    """One boot source on its way. filled: whether its volume is."""

    result: Result
    options: Options
    content: Content = _UNKNOWN
    labels: dict[str, str] = field(default_factory=dict)
    volume: str = ""
    filled: bool = True

    @property
    def imports(self) -> bool:
        """Whether CDI imports once."""
        return bool(self.options.get("url") or (self.options.get("image") and self.options.get("schedule") is None))

    @property
    def polls(self) -> bool:
        return self.options.get("schedule") is not None

    def add(self, part: Result) -> None:
        """Counts what became of one of its objects."""
        told = f"{part.entry.key.kind} {part.entry.key.name}"
        if part.failed:
            self.result.failed = self.result.failed or f"{told}: {part.failed}"
        elif part.action in plan.WRITES:
            front = part.entry.key.kind in (_SOURCE, _CRON)
            self.result.action = part.action if front else max(self.result.action, plan.APPLY, key=_weight)
            for side, own in ((self.result.before, part.before), (self.result.after, part.after)):
                if own:
                    side[told] = own
        self.result.written = self.result.written or part.written
        self.result.warnings += part.warnings


def _weight(action: str) -> int:
    return (plan.NONE, plan.APPLY, plan.CREATE, plan.DELETE).index(action)


def declare_sources(session: Session, subject: Subject, entries: list[Entry], settings: Settings) -> list[Result]:
    """Results in the order of the entries, as `declare` gives them."""
    results = [Result(entry, failed=entry.problem) for entry in entries]
    if any(result.failed for result in results):
        for result in results:
            result.left = None if result.failed else "not sent because other entries are invalid"
        return results
    works = [_Work(result, result.entry.manifest["options"]) for result in results]
    present = [work for work in works if work.result.entry.state != "absent"]
    _identify(session, present, settings)
    _import(session, _going(present, lambda work: work.imports), settings)
    _upload(session, _going(present, lambda work: bool(work.options.get("upload"))), settings)
    _poll(session, _going(present, lambda work: work.polls), settings)
    _lead(session, _going(present, lambda work: not work.polls), settings)
    _tidy(session, _going(present, lambda work: bool(work.volume) and work.filled), settings)
    _remove(session, [work for work in works if work.result.entry.state == "absent"], settings)
    return results


def _going(works: Iterable[_Work], chosen: Callable[[_Work], bool]) -> list[_Work]:
    return [work for work in works if not work.result.failed and chosen(work)]


def _identify(session: Session, works: list[_Work], settings: Settings) -> None:
    def one(work: _Work) -> None:
        if work.options.get("image"):
            work.content = image_of(session, work.options)
        elif work.options.get("upload"):
            work.content = file_of(work.options)
        work.result.failed = work.content.problem or None
        try:
            work.labels = source.defaults(work.options, work.content.environment)
        except FieldError as error:
            work.result.failed = work.result.failed or str(error)
        if work.imports or work.options.get("upload"):
            work.volume = source.volume_name(work.options, work.content.digest)
        # Before anything is sent: a volume that nothing leads to would be left over.
        if settings.preflight != "off" and not work.result.failed:
            judge(work.result, missing(session, work.options["namespace"], work.labels), settings)

    with ThreadPoolExecutor(max_workers=max(1, settings.concurrency)) as pool:
        list(pool.map(one, works))


def _declared(
    session: Session, subject: Subject, pairs: list[tuple[_Work, Manifest]], settings: Settings, state: str = "present"
) -> list[Result]:
    """Declares one object for each work, or deletes it."""
    entries = [_entry(work, manifest, state) for work, manifest in pairs]
    results = declare(session, subject, entries, settings) if entries else []
    for (work, _manifest), result in zip(pairs, results):
        work.add(result)
    return results


def _entry(work: _Work, manifest: Manifest, state: str) -> Entry:
    metadata = manifest["metadata"]
    key = Key(manifest["kind"], metadata["namespace"], metadata["name"])
    return Entry(work.result.entry.label, key, state, manifest)


def _import(session: Session, works: list[_Work], settings: Settings) -> None:
    pairs = [(work, source.volume(work.options, work.content.digest, work.labels)) for work in works]
    for (work, _manifest), result in zip(pairs, _declared(session, Volumes(), pairs, settings)):
        work.filled = result.live is not None and source.fate(result.live).done


def _upload(session: Session, works: list[_Work], settings: Settings) -> None:
    for work in works:
        namespace = work.options["namespace"]
        try:
            live = session.get(BY_NAME[_VOLUME], namespace, work.volume)
            work.filled = live is not None and source.fate(live).done
            if work.filled:
                continue
            work.result.action = plan.APPLY
            work.result.after[f"{_VOLUME} {work.volume}"] = {"upload": work.options["upload"]["path"]}
            if not settings.check_mode:
                _send(session, work, settings)
                work.result.written = True
                work.filled = settings.wait
        except (UploadFailed, ConnectionFailed, OSError) as error:
            work.result.failed = str(error)
        except ApiError as error:
            work.result.failed = explain(error, "POST", BY_NAME[_VOLUME])


def _send(session: Session, work: _Work, settings: Settings) -> None:
    options, proxy = work.options, work.options.get("upload_proxy") or {}
    wish = Upload(
        namespace=options["namespace"],
        name=work.volume,
        size=options["size"],
        storage_class=options.get("storage_class") or "",
        access_mode=options.get("access_mode") or "",
        volume_mode=options.get("volume_mode") or "",
        force_bind=bool(options.get("force_bind")),
        labels={**work.labels, source.OWNER: options["name"]},
    )
    pool = upload_proxy.connections(proxy.get("validate_certs") is not False, proxy.get("ca_cert"))
    timeout = settings.wait_timeout if settings.wait else 0
    way = Way(pool, proxy.get("url") or "", ready_timeout=settings.wait_timeout, timeout=timeout)
    with Path(options["upload"]["path"]).open("rb") as file:
        upload(session, wish, file, way)


def _poll(session: Session, works: list[_Work], settings: Settings) -> None:
    pairs = [(work, source.cron(work.options, work.labels)) for work in works]
    replaced = []
    for work, manifest in pairs:
        try:
            live = session.get(BY_NAME[_CRON], work.options["namespace"], work.options["name"])
        except (ApiError, ConnectionFailed) as error:
            told = explain(error, "GET", BY_NAME[_CRON])
            work.result.failed = told
            continue
        # CDI lets no cron be changed. What it has made stays, by its retention policy.
        if live is not None and admission.data_import_cron_refusal({**live, "spec": manifest["spec"]}, live):
            replaced.append((work, manifest))
    rest = [(work, manifest) for work, manifest in pairs if not work.result.failed]
    if replaced and not settings.check_mode:
        _declared(session, Subject("crons"), replaced, replace(settings, wait=True), "absent")
    # The dry run of another spec would be refused, since the old cron is still there.
    asked = replace(settings, server_dry_run=settings.server_dry_run and not replaced, wait=False)
    _declared(session, Crons(), [pair for pair in rest if not pair[0].result.failed], asked)
    if settings.wait and not settings.check_mode:
        _await_cron(session, _going(works, lambda _work: True), settings)


def _await_cron(session: Session, works: list[_Work], settings: Settings) -> None:
    deadline = time.monotonic() + settings.wait_timeout
    for namespace in sorted({work.options["namespace"] for work in works}):
        own = {work.options["name"]: work for work in works if work.options["namespace"] == namespace}

        def look(_name: str, live: Manifest | None) -> State:
            return State(live is not None and source.is_ready(live), pending="CDI to import the image")

        seconds = max(0.0, deadline - time.monotonic())
        for name, ended in wait_for(session, BY_NAME[_SOURCE], namespace, own, look, seconds).items():
            own[name].result.live = ended.object
            own[name].result.failed = ended.failure


def _lead(session: Session, works: list[_Work], settings: Settings) -> None:
    # In check mode the volume would be filled by now, if somebody waited for it.
    stay = {
        (work.options["namespace"], work.options["name"])
        for work in works
        if not work.filled and not (settings.check_mode and settings.wait)
    }
    pairs = [(work, source.data_source(work.options, work.volume, work.labels)) for work in works]
    for (work, _manifest), result in zip(pairs, _declared(session, DataSources(stay), pairs, settings)):
        work.result.live = result.live
        if result.live is not None and (work.options["namespace"], work.options["name"]) in stay:
            work.result.warnings.append(
                f"the DataSource leads to {work.volume} when that is filled; run the task again"
            )
    claims = [(work, _claim(work)) for work in works if work.labels and work.filled]
    _declared(session, Claims(), [pair for pair in claims if not pair[0].result.failed], replace(settings, wait=False))


def _claim(work: _Work) -> Manifest:
    """What the DataSource leads to, with its labels: CDI copies them from there to the DataSource, over its own."""
    kind = _SNAPSHOT if work.options.get("snapshot") else _CLAIM
    named = work.options.get("pvc") or work.options.get("snapshot") or {"name": work.volume}
    namespace = named.get("namespace") or work.options["namespace"]
    metadata = {"name": named["name"], "namespace": namespace, "labels": work.labels}
    return {"apiVersion": BY_NAME[kind].api_version, "kind": kind, "metadata": metadata}


def _tidy(session: Session, works: list[_Work], settings: Settings) -> None:
    pairs = []
    for work in works:
        volumes = _owned(session, work)
        pairs += [(work, one) for one in source.outdated(volumes, work.volume, work.options["keep"])]
    _delete(session, pairs, settings)


def _remove(session: Session, works: list[_Work], settings: Settings) -> None:
    def named(kind: str) -> list[tuple[_Work, Manifest]]:
        return [
            (work, {"apiVersion": BY_NAME[kind].api_version, "kind": kind, "metadata": _metadata(work)})
            for work in works
        ]

    # The cron first, since it would make the others anew.
    for kind in (_CRON, _SOURCE):
        pairs = [pair for pair in named(kind) if not pair[0].result.failed]
        _declared(session, Subject("boot sources"), pairs, settings, "absent")
    going = _going(works, lambda _work: True)
    _delete(session, [(work, one) for work in going for one in _owned(session, work)], settings)


def _metadata(work: _Work) -> dict[str, str]:
    return {"name": work.options["name"], "namespace": work.options["namespace"]}


def _owned(session: Session, work: _Work) -> list[Manifest]:
    """The volumes that were made for a boot source, by a task or by its cron."""
    found: dict[str, Manifest] = {}
    for label in (source.OWNER, source.CRON):
        query = {"labelSelector": f"{label}={work.options['name']}"}
        try:
            items, _version = session.list(BY_NAME[_VOLUME], work.options["namespace"], **query)
        except (ApiError, ConnectionFailed) as error:
            work.result.warnings.append(f"old volumes stay: {explain(error, 'LIST', BY_NAME[_VOLUME])}")
            return []
        found.update({item["metadata"]["name"]: item for item in items})
    kind = BY_NAME[_VOLUME]
    # The items of a list say of what API they are only with the list.
    return [{**item, "apiVersion": kind.api_version, "kind": kind.kind} for item in found.values()]


def _delete(session: Session, pairs: list[tuple[_Work, Manifest]], settings: Settings) -> None:
    if not pairs:
        return
    try:
        clones, _version = session.list(BY_NAME[_VOLUME])
    except (ApiError, ConnectionFailed) as error:
        for work, _one in pairs:
            work.result.warnings.append(
                f"old volumes stay, since it is not known who clones them: {explain(error, 'LIST', BY_NAME[_VOLUME])}"
            )
        return
    due = []
    for work, one in pairs:
        reader = source.read_by(clones, one["metadata"]["namespace"]).get(one["metadata"]["name"])
        if reader:
            work.result.warnings.append(f"the volume {one['metadata']['name']} stays, since {reader} is cloned from it")
        else:
            due.append((work, one))
    _declared(session, Subject("volumes"), due, settings, "absent")
