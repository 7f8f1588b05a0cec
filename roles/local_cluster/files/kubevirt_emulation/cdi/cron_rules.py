"""What a DataImportCron makes, and which of it goes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

from _resolver.boot import schedule
from kubevirt_emulation.cdi import claims, names
from kubevirt_emulation.cdi import labels as labels_of

Manifest = dict[str, Any]

_KEPT = 3
_DIGITS = 12
_TAG = re.compile(r":[A-Za-z0-9_][A-Za-z0-9_.-]*(?=@)", re.ASCII)


def volume_name(cron: Manifest, digest: str) -> str:
    """The name of the DataVolume with a content."""
    return f"{cron['spec']['managedDataSource']}-{digest.partition(':')[2][:_DIGITS]}"


def labels(cron: Manifest) -> dict[str, str]:
    """The labels of all that a cron makes."""
    found = {**labels_of.allowed(labels_of.of(cron)), names.CRON: cron["metadata"]["name"]}
    if cron["spec"].get("retentionPolicy") == "None":
        found[names.CRON_CLEANUP] = "true"
    return found


def volume(cron: Manifest, digest: str, time: str) -> Manifest:
    """The DataVolume that imports a digest."""
    spec = cron["spec"]["template"]["spec"]
    registry = spec["source"].get("registry")
    if registry is not None:
        url = registry["url"] if "@" in registry["url"] else _TAG.sub("", f"{registry['url']}@{digest}")
        spec = {**spec, "source": {"registry": {**registry, "url": url}}}
    return {
        "apiVersion": cron["apiVersion"],
        "kind": "DataVolume",
        "metadata": {
            "name": volume_name(cron, digest),
            "namespace": cron["metadata"]["namespace"],
            "labels": labels(cron),
            "annotations": {names.BIND: "true", names.LAST_USE: time},
        },
        "spec": spec,
    }


def data_source(cron: Manifest) -> Manifest:
    """The DataSource that a cron makes, before it leads anywhere."""
    metadata = {
        "name": cron["spec"]["managedDataSource"],
        "namespace": cron["metadata"]["namespace"],
        "labels": labels(cron),
    }
    return {"apiVersion": cron["apiVersion"], "kind": "DataSource", "metadata": metadata, "spec": {"source": {}}}


def outdated(cron: Manifest, imports: Iterable[Manifest]) -> list[str]:
    """The names of the claims that are too many, of those with the cron's label; that used last stays longest."""
    spec = cron["spec"]
    if spec.get("garbageCollect") not in (None, "Outdated"):
        return []
    keep = _KEPT if spec.get("importsToKeep") is None else spec["importsToKeep"]
    own = [one for one in imports if labels_of.of(one).get(names.CRON) == cron["metadata"]["name"]]
    own.sort(key=lambda one: claims.marks_of(one).get(names.LAST_USE, ""), reverse=True)
    return [one["metadata"]["name"] for one in own[keep:]]


def next_poll(cron: Manifest, now: datetime) -> datetime | None:
    """When a cron polls next after a moment; None for never."""
    if not cron["spec"].get("schedule"):
        return None
    read = schedule.parse(cron["spec"]["schedule"])
    zone = timezone.utc if read.zone in (None, "", "UTC", "Local") else ZoneInfo(read.zone or "")
    return schedule.next_time(read, now.astimezone(zone))
