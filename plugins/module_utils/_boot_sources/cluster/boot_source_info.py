"""The module boot_source_info: options, results, the message."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from ..._cluster.client.session import Session
from ..._cluster.modules.module import Module, Params, Result, TaskContext
from ..._cluster.modules.options import AUTH, REQUESTS
from ..._cluster.modules.results import counted_noun
from ..._cluster.reads.snapshot import unmatched
from ..discovery import BootSource
from ..source import matchers
from .listing import boot_sources

_SPEC: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "names": {"type": "list", "elements": "str", "aliases": ["name"]},
    "with_findings": {"type": "bool"},
    "query_registry": {"type": "bool", "default": False},
    "insecure_registry": {"type": "bool", "default": False},
}


def _run(params: Params, task: TaskContext) -> Result:
    namespace, names, session = params["namespace"], params["names"], Session(params)
    sources = boot_sources(
        session, namespace, names, params["query_registry"], params["insecure_registry"], task.warnings
    )
    missing = [name for name in names or [] if name not in {source.key.name for source in sources}]
    if missing or not sources:
        task.warnings += filter(None, [unmatched(session, namespace, "boot source", missing)])
    if params["with_findings"] is not None:
        sources = [source for source in sources if bool(source.findings) == params["with_findings"]]
    now = datetime.now(timezone.utc)
    faulty = sum(bool(source.findings) for source in sources)
    return {
        "changed": False,
        "msg": f"{counted_noun(len(sources), 'boot sources')}, {faulty} with findings",
        "boot_sources": [_source_result(source, now) for source in sources],
    }


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
