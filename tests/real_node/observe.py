"""What a namespace's VMs go through: the values that fields of the status take one after the other.

A track is such a sequence, such as VMI 1 phase: [Pending, Scheduling, Scheduled, Running].
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from kubernetes import client, watch
from urllib3.exceptions import HTTPError

Manifest = dict[str, Any]
Tracks = dict[str, list[str]]

_KINDS = {
    "VM": ("kubevirt.io", "v1", "virtualmachines"),
    "VMI": ("kubevirt.io", "v1", "virtualmachineinstances"),
    "migration": ("kubevirt.io", "v1", "virtualmachineinstancemigrations"),
}


def _fields(kind: str, item: Manifest) -> Iterator[tuple[str, str]]:
    """The fields of an object that are followed, with their values."""
    status = item.get("status") or {}
    if kind == "VM":
        yield "printableStatus", str(status.get("printableStatus", ""))
    else:
        yield "phase", str(status.get("phase", ""))
    for condition in status.get("conditions") or ():
        reason = condition.get("reason") or ""
        yield str(condition["type"]), f"{condition['status']} {reason}".strip()
    for volume in status.get("volumeStatus") or ():
        if volume.get("hotplugVolume"):
            yield f"volume {volume['name']}", str(volume.get("phase", ""))
    for interface in status.get("interfaces") or ():
        if interface.get("name") not in (None, "default"):
            yield f"interface {interface['name']}", str(interface.get("infoSource", ""))


class Observer:
    """Follows the objects of a namespace from its construction until `stop`."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._tracks: Tracks = defaultdict(list)
        self._names: dict[str, str] = {}
        self._last: dict[str, str] = {}
        self._present: dict[str, set[str]] = {}
        self._changed = threading.Condition()
        self._watches = [watch.Watch() for _kind in _KINDS]
        self._threads = [
            threading.Thread(target=self._follow, args=(kind, each), daemon=True)
            for kind, each in zip(_KINDS, self._watches)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        for each in self._watches:
            each.stop()

    def quiet(self, seconds: float, at_most: float) -> None:
        """Returns when no followed field has changed for so many seconds."""
        deadline = time.monotonic() + at_most
        with self._changed:
            while self._changed.wait(timeout=seconds) and time.monotonic() < deadline:
                pass

    def take(self) -> Tracks:
        """The tracks since the last call."""
        with self._changed:
            taken, self._tracks = dict(self._tracks), defaultdict(list)
        return dict(sorted(taken.items()))

    def _follow(self, kind: str, each: watch.Watch) -> None:
        group, version, plural = _KINDS[kind]
        read: Callable[..., Any] = client.CustomObjectsApi().list_namespaced_custom_object
        while not each._stop:
            try:
                # Ends now and then; what was seen is not counted again.
                for event in each.stream(read, group, version, self._namespace, plural, timeout_seconds=600):
                    self._saw(kind, event["type"], event["object"])
            except (client.ApiException, HTTPError, OSError):
                time.sleep(0.2)

    def _saw(self, kind: str, how: str, item: Manifest) -> None:
        with self._changed:
            name = self._name(kind, item)
            values = {} if how == "DELETED" else dict(_fields(kind, item))
            for field in self._present.get(name, set()) - values.keys():
                values[field] = "gone"
            self._present[name] = {field for field, value in values.items() if value != "gone"}
            for field, value in values.items():
                track = f"{name} {field}"
                if self._last.get(track) != value and value:
                    self._last[track] = value
                    self._tracks[track].append(value)
                    self._changed.notify_all()

    def _name(self, kind: str, item: Manifest) -> str:
        """VM, VMI 1 and VMI 2, as a guest that starts again has a VMI of its own."""
        uid = item["metadata"]["uid"]
        if kind == "VM":
            return f"VM {item['metadata']['name']}"
        if uid not in self._names:
            number = 1 + sum(name.startswith(f"{kind} ") for name in self._names.values())
            self._names[uid] = f"{kind} {number}"
        return self._names[uid]
