"""The newest events about objects that do not make progress."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._resolver.api.kinds import Kind
from ..client.errors import ApiError, ConnectionFailed
from ..client.session import Session

Manifest = dict[str, Any]

_EVENT = Kind("Event", "", "v1", "events", True)
_TOLD = 3
# The name of a VM's pod is virt-launcher-VM-SUFFIX.
_POD = "virt-launcher-"


def newest_events(session: Session, namespace: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The newest events about these VMs and their VMIs, pods, DataVolumes and claims, the newest last.

    One LIST. Empty if the user may not list events or the request fails.
    """
    try:
        items, _version = session.list(_EVENT, namespace)
    except (ApiError, ConnectionFailed):
        return {}
    items.sort(key=_time)
    found = {}
    for name in names:
        about = [event for event in items if _is_about(event, name)]
        if about:
            found[name] = [_text(event) for event in about[-_TOLD:]]
    return found


def _is_about(event: Manifest, name: str) -> bool:
    about = event.get("involvedObject") or {}
    other = str(about.get("name", ""))
    return other == name or (about.get("kind") == "Pod" and other.rpartition("-")[0] == f"{_POD}{name}")


def _time(event: Manifest) -> str:
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((str(time) for time in times if time), str(event["metadata"].get("creationTimestamp", "")))


def _text(event: Manifest) -> str:
    return f"{event.get('reason', '')}: {' '.join(str(event.get('message', '')).split())}"
