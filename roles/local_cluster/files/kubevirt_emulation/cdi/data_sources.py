"""The DataSource controller: says whether VMs can be made of a DataSource, and gives it the labels of its volume."""

from __future__ import annotations

import logging
from typing import Any

from kubevirt_emulation.cdi import conditions
from kubevirt_emulation.cdi import labels as labels_of
from kubevirt_emulation.cdi.conditions import State
from kubevirt_emulation.cdi.context import Context
from kubevirt_emulation.cdi.sources import lead
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.informer import Key, key_of
from kubevirt_emulation.resources import KINDS
from kubevirt_emulation.workqueue import WorkQueue

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

WORKERS = 3
_READY = State("True", "Ready", "DataSource is ready to be consumed")


class DataSourceController:
    """Works on DataSources that have changed, or what they lead to."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sources = context.caches["DataSource"]
        self._queue: WorkQueue[Key] = WorkQueue()
        self._sources.on_change(self._queue.add)
        self._sources.on_change(lambda key: self._led_to(key, "dataSource"))
        for kind, field in (("DataVolume", "pvc"), ("PersistentVolumeClaim", "pvc"), ("VolumeSnapshot", "snapshot")):
            context.caches[kind].on_change(lambda key, field=field: self._led_to(key, field))  # type: ignore[misc]
        context.caches["CDI"].on_change(lambda _key: self._look_again())

    def _led_to(self, key: Key, field: str) -> None:
        for one in self._sources.objects():
            own, named = key_of(one), _given(one).get(field)
            if named and (named.get("namespace") or own[0], named.get("name")) == key:
                self._queue.add(own)

    def _look_again(self) -> None:
        for one in self._sources.objects():
            self._queue.add(key_of(one))

    async def run(self) -> None:
        await self._queue.run(WORKERS, self._sync)

    async def _sync(self, key: Key) -> None:
        found = self._sources.get(key)
        if found is None or found["metadata"].get("deletionTimestamp") or not self._context.installed:
            return
        after = self._judged(found)
        try:
            if after != found:
                self._sources.observe(await self._context.client.update(KINDS["DataSource"], after))
        except ApiError as error:
            if error.code != 404:
                log.debug("%s/%s: %s", *key, error)
                self._queue.retry(key)
            return
        self._queue.forget(key)

    def _judged(self, found: Manifest) -> Manifest:
        """The DataSource with its status and its labels."""
        resolved, (reason, message) = lead(self._context, found)
        state, labels = State("False", reason, message), labels_of.of(found)
        if resolved is not None:
            state, more = self._state(resolved)
            labels.update(labels_of.allowed(more))
        before = found.get("status") or {}
        status = {
            "source": _given(resolved) if resolved is not None and state.status == "True" else {},
            "conditions": conditions.updated(before.get("conditions"), {"Ready": state}),
        }
        metadata = {**found["metadata"], "labels": labels} if labels else found["metadata"]
        return {**found, "metadata": metadata, "status": status}

    def _state(self, resolved: Manifest) -> tuple[State, dict[str, str]]:
        """Whether what a DataSource leads to is there, and its labels: the claim's count before the DataVolume's."""
        source, namespace = _given(resolved), resolved["metadata"]["namespace"]
        if source.get("pvc") is not None:
            return self._of_claim((source["pvc"].get("namespace") or namespace, source["pvc"].get("name") or ""))
        if source.get("snapshot") is None:
            return State("False", "NoSource", "No source PVC set"), {}
        named = source["snapshot"]
        found = self._context.caches["VolumeSnapshot"].get((named.get("namespace") or namespace, named["name"]))
        if found is None:
            return State("False", "NotFound", "Snapshot not found"), {}
        if not (found.get("status") or {}).get("readyToUse"):
            return State("False", "SnapshotNotReady", "Snapshot phase is not ready"), {}
        return _READY, labels_of.of(found)

    def _of_claim(self, key: Key) -> tuple[State, dict[str, str]]:
        claim, volume = (self._context.caches[kind].get(key) for kind in ("PersistentVolumeClaim", "DataVolume"))
        if volume is None and claim is None:
            return State("False", "NotFound", "PVC not found"), {}
        phase = ((volume or {}).get("status") or {}).get("phase") or ""
        if volume is not None and phase != "Succeeded":
            return State("False", phase, f"Import DataVolume phase {phase}"), {}
        return _READY, {**labels_of.of(volume), **labels_of.of(claim)}


def _given(data_source: Manifest) -> Manifest:
    return (data_source.get("spec") or {}).get("source") or {}
