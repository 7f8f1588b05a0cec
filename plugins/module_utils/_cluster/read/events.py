"""The newest events about objects that do not make progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    found: dict[str, list[Manifest]] = {name: [] for name in names}
    for event in items:
        for name in _about(event):
            if name in found:
                found[name].append(event)
    return {name: [_text(event) for event in about[-_TOLD:]] for name, about in found.items() if about}


def _about(event: Manifest) -> Iterator[str]:
    """The names that the VM of an event may have."""
    about = event.get("involvedObject") or {}
    name = str(about.get("name", ""))
    yield name
    if about.get("kind") == "Pod" and name.startswith(_POD):
        yield name[len(_POD) :].rpartition("-")[0]


def _time(event: Manifest) -> str:
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((str(time) for time in times if time), str(event["metadata"].get("creationTimestamp", "")))


def _text(event: Manifest) -> str:
    return f"{event.get('reason', '')}: {' '.join(str(event.get('message', '')).split())}"
