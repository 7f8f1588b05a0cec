"""Watches that say which VMs to look at; what has become of them, only a look shows."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ..._cluster.client.concurrency import Backoff, Stopped, stoppable
from ..._cluster.client.errors import ConnectionFailed, RequestFailed
from ..._cluster.client.session import Session
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..facts import ended_guest

log = logging.getLogger(__name__)

_VM: Final = "VirtualMachine"
_VMI: Final = "VirtualMachineInstance"
# Changes of these concern the VMs of the namespace, or of all.
_SHARED: Final = tuple(
    kind for matcher_field in MATCHER_FIELDS for kind in (matcher_field.kind, matcher_field.cluster_kind)
)
KINDS_WATCHED: Final = (_VM, _VMI, "ControllerRevision", *_SHARED, "DataSource")
# Seconds of a watch, and before another attempt to watch what may not be watched, or is not served.
_WATCH: Final = 300
_UNAVAILABLE: Final = 300.0


@dataclass
class PendingLook:
    """The VMs to look at: all, all of some namespaces, or single ones.

    vms: NAMESPACE/NAME → whether the VM's last event was that it left the selection, or the cluster; None if only
    another object of this name changed, so that the VM may not be selected.
    ended: NAMESPACE/NAME → the guest of the VM that has ended by itself.
    """

    everything: bool = False
    namespaces: set[str] = field(default_factory=set)
    vms: dict[str, bool | None] = field(default_factory=dict)
    ended: dict[str, Manifest] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.everything or bool(self.namespaces or self.vms)

    def add(self, other: PendingLook) -> None:
        self.everything = self.everything or other.everything
        self.namespaces |= other.namespaces
        for name, left in other.vms.items():
            if left is not None or name not in self.vms:
                self.vms[name] = left
        self.ended.update(other.ended)


class Triggers:
    """Watches of one cluster, each in a thread, and the changes since the last look."""

    def __init__(
        self, session: Callable[[], Session], namespace: str | None, query: dict[str, str], stop: threading.Event
    ) -> None:
        """Starts nothing yet. session: returns the current one. query: the selectors of VMs. stop: ends the threads."""
        self._session, self._namespace, self._query, self._stop = session, namespace, query, stop
        self._changed = threading.Condition()
        self._batch = PendingLook()
        self._pending = set(KINDS_WATCHED)
        self._defect: Exception | None = None

    def start(self) -> None:
        """Starts the watches, and returns when each has begun or failed once, so that one look sees all before."""
        for kind in KINDS_WATCHED:
            threading.Thread(target=self._run, args=(KINDS[kind],), daemon=True, name=f"watch {kind}").start()
        with self._changed:
            while self._pending and not self._stop.is_set():
                self._changed.wait(1)

    def add(self, batch: PendingLook) -> None:
        with self._changed:
            self._batch.add(batch)
            self._changed.notify_all()

    def take(self, seconds: float, delay: float) -> PendingLook:
        """The VMs to look at; none if nothing happens for this time. seconds: the time to wait.

        delay: seconds to wait for further changes, since one seldom comes alone. Raises what has ended a watch.
        """
        until = time.monotonic() + seconds
        with self._changed:
            # An earlier batch may have taken the request of the watch that failed.
            while (
                not (self._batch or self._defect or self._stop.is_set()) and (remaining := until - time.monotonic()) > 0
            ):
                self._changed.wait(min(1.0, remaining))
            found = bool(self._batch)
            if self._defect is not None:
                raise self._defect
        if found:
            self._stop.wait(delay)
        with self._changed:
            result, self._batch = (self._batch if found else PendingLook()), PendingLook()
        return result

    def _run(self, kind: Kind) -> None:
        stoppable(self._stop)
        version, pauses, told = "", Backoff(), ""
        try:
            while not self._stop.is_set():
                pause = 0.0
                try:
                    if not version:
                        version = self._begin(kind)
                    began = version
                    version = self._follow(kind, version)
                    pauses, told = (Backoff(), "") if version != began else (pauses, told)
                    pause = pauses.next()
                except RequestFailed as error:
                    # Only a look at all shows what was missed; the next beginning asks for one.
                    version = ""
                    pause = pauses.next()
                    if kind.kind == _VM:
                        # If the cluster is down, or refuses the credentials, the look says so, once for all watches.
                        self.add(PendingLook(everything=True))
                    elif error.code in (403, 404):
                        pause = _UNAVAILABLE
                    # Without CDI there are no DataSources.
                    if str(error) != told and error.code == 403:
                        log.warning("watch of %s: %s", kind.plural, error)
                        told = str(error)
                finally:
                    self._has_begun(kind)
                self._stop.wait(pause)
        except Stopped:
            pass
        except Exception as error:
            # A watch that ended unseen would be a source that does not listen.
            self._defect = error
            self.add(PendingLook(everything=True))

    def _has_begun(self, kind: Kind) -> None:
        with self._changed:
            self._pending.discard(kind.kind)
            self._changed.notify_all()

    def _selectors(self, kind: Kind) -> dict[str, str]:
        return self._query if kind.kind == _VM else {}

    def _begin(self, kind: Kind) -> str:
        """The resourceVersion to watch from. All that was before is to look at."""
        page: dict[str, Any] = self._session().request("GET", kind.path(self._namespace), query={"limit": "1"})
        version = str((page.get("metadata") or {}).get("resourceVersion") or "")
        if not version:
            raise ConnectionFailed(f"the list of {kind.plural} has no resourceVersion")
        self.add(PendingLook(everything=True))
        self._has_begun(kind)
        return version

    def _follow(self, kind: Kind, version: str) -> str:
        """One watch; the resourceVersion to go on from."""
        # Only the VMI shows that its guest has crashed, and KubeVirt soon replaces it.
        only_metadata = kind.kind != _VMI
        events = self._session().watch(kind, self._namespace, version, _WATCH, only_metadata, **self._selectors(kind))
        for event in events:
            metadata = event["object"]["metadata"]
            version = metadata.get("resourceVersion") or version
            if event["type"] != "BOOKMARK":
                self.add(concerned(kind, event["type"], event["object"]))
        return version


def concerned(kind: Kind, event_type: str, item: Manifest) -> PendingLook:
    """The VMs to look at because of an event of a watch. item: the object, with its status if it is a VMI."""
    metadata = item["metadata"]
    namespace, name = metadata.get("namespace") or "", metadata.get("name") or ""
    if kind.kind in _SHARED and kind.namespaced:
        return PendingLook(namespaces={namespace})
    if kind.kind in (*_SHARED, "DataSource"):
        return PendingLook(everything=True)
    if kind.kind == _VM:
        return PendingLook(vms={f"{namespace}/{name}": event_type == "DELETED"})
    if kind.kind == "ControllerRevision":
        owners = metadata.get("ownerReferences") or []
        return PendingLook(
            vms={f"{namespace}/{owner.get('name')}": None for owner in owners if owner.get("kind") == _VM}
        )
    found = PendingLook(vms={f"{namespace}/{name}": None})
    if kind.kind == _VMI and (ended := ended_guest(item)):
        found.ended[f"{namespace}/{name}"] = ended
    return found
