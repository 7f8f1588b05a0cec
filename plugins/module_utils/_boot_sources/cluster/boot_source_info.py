"""The module boot_source_info: its options, what it reads, and its results."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from ..._cluster.client.session import Session
from ..._cluster.modules.module import Module, Params, Result
from ..._cluster.modules.results import counted_noun
from ..._cluster.modules.shared_options import AUTH, REQUESTS
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.reads.snapshot import unmatched
from ..._cluster.reads.surroundings import list_if_permitted
from ..._cluster.task import Task
from ..._resolver.api.finding import Finding
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..._resolver.kubevirt.instancetype.lookup import get_readable
from ..._resolver.preflight.object_keys import ObjectToRead
from .. import discovery
from ..discovery import BootSource
from ..source import matchers
from .contents import default_findings
from .registry import contents_of

_SPEC: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "names": {"type": "list", "elements": "str", "aliases": ["name"]},
    "with_findings": {"type": "bool"},
    "query_registry": {"type": "bool", "default": False},
    "insecure_registry": {"type": "bool", "default": False},
}


def _run(params: Params, task: Task) -> Result:
    session = task.connect(params)
    sources = _boot_sources(session, params, task.warnings)
    missing = [name for name in params["names"] or [] if name not in {source.key.name for source in sources}]
    if missing or not sources:
        task.warnings += filter(None, [unmatched(session, params["namespace"], "boot source", missing)])
    if params["with_findings"] is not None:
        sources = [source for source in sources if bool(source.findings) == params["with_findings"]]
    now = datetime.now(timezone.utc)
    faulty = sum(bool(source.findings) for source in sources)
    return {
        "changed": False,
        "msg": f"{counted_noun(len(sources), 'boot sources')}, {faulty} with findings",
        "boot_sources": [_source_result(source, now) for source in sources],
    }


def _boot_sources(session: Session, params: Params, warnings: list[str]) -> list[BootSource]:
    """Boot sources with all findings, by one LIST for each kind. A kind that the user may not read adds a warning."""
    namespace, names = params["namespace"], params["names"]
    objects: dict[str, list[Manifest]] = {}
    unread = []
    for kind in discovery.SOURCE_KINDS:
        warning_count = len(warnings)
        objects[kind] = list(list_if_permitted(session, KINDS[kind], warnings, namespace) or ())
        unread += [kind] if len(warnings) > warning_count else []
    lookup = ClusterLookup(session)
    targets = discovery.external_targets(objects, namespace)
    lookup.gather(ObjectToRead(key, key.namespace) for key in targets)
    for key in targets:
        if live := get_readable(lookup, *key):
            objects[key.kind].append(live)
    sources = [
        source
        for source in discovery.discover(objects, unread)
        if namespace in (None, source.key.namespace) and (names is None or source.key.name in names)
    ]
    for source in sources:
        source.findings += default_findings(session, lookup, source.key.namespace, source.labels)
    if params["query_registry"]:
        _check_registries(session, sources, params["insecure_registry"])
    return sources


def _check_registries(session: Session, sources: list[BootSource], insecure: bool) -> None:
    # Nobody knows which digest a tag had then.
    asked = [
        (source, source.origin.image._replace(insecure=insecure))
        for source in sources
        if source.origin.image is not None and source.origin.digest
    ]
    contents = contents_of(session, (image for _source, image in asked))
    for source, image in asked:
        content = contents[image]
        if content.problem:
            source.findings.append(Finding(content.problem, rule="registry_unknown"))
        elif content.digest != source.origin.digest:
            text = f"{image.name} is now {content.digest}; the boot source has {source.origin.digest}"
            source.findings.append(Finding(text, rule="outdated"))


MODULE = Module({**AUTH, **REQUESTS, **_SPEC}, _run)


def _source_result(source: BootSource, now: datetime) -> dict[str, Any]:
    result: dict[str, Any] = {
        "name": source.key.name,
        "namespace": source.key.namespace,
        "kind": source.key.kind,
        "ready": source.ready,
        "created": source.created,
        "age_days": _days(source.created, now),
        "image": source.origin.image.name if source.origin.image else "",
        "digest": source.origin.digest,
        "cron": source.cron,
        "schedule": source.schedule,
        "volumes": source.volumes,
        "labels": source.labels,
        "findings": [{"finding": finding.rule, "text": finding.text} for finding in source.findings],
    }
    if source.target is not None:
        result["target_ref"] = source.target._asdict()
    for matcher_field, (kind, name) in matchers(source.labels).items():
        result[matcher_field] = {"name": name, "kind": kind}
    return result


def _days(created: str, now: datetime) -> int | None:
    try:
        # Python 3.9 reads no Z.
        return max(0, (now - datetime.fromisoformat(created.replace("Z", "+00:00"))).days)
    except (ValueError, TypeError):
        return None
