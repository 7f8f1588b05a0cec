"""The DataVolume controller: gives each DataVolume its claim and fills that."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from kubevirt_emulation.cdi import claims, conditions, importer, names
from kubevirt_emulation.cdi import labels as labels_of
from kubevirt_emulation.cdi.conditions import State
from kubevirt_emulation.cdi.context import Context
from kubevirt_emulation.cdi.sources import Asked, Source, source_of
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.informer import Key, key_of
from kubevirt_emulation.workqueue import WorkQueue

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

WORKERS = 8
_FINAL = ("Succeeded", "Failed")
# An import that fails is tried again after these seconds, the last for ever.
_FIRST_RETRY, _LAST_RETRY = 0.5, 300.0
_RUNNING = State("False")
_COMPLETED = State("False", "Completed", "Import Complete")


class DataVolumeController:
    """Works on DataVolumes that have changed, or whose claim or source has."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._volumes = context.caches["DataVolume"]
        self._claims = context.caches["PersistentVolumeClaim"]
        self._queue: WorkQueue[Key] = WorkQueue()
        self._unfinished: set[Key] = set()
        self._waiting: dict[Asked, set[Key]] = {}
        self._due: dict[str, float] = {}  # by uid, when an import is tried again
        self._said: dict[str, str] = {}  # by uid, the last event
        self._volumes.on_change(self._queue.add)
        self._volumes.on_change(lambda key: self._changed(("PersistentVolumeClaim", *key)))
        self._claims.on_change(self._queue.add)  # a claim has the name of its DataVolume
        for kind in ("PersistentVolumeClaim", "DataSource", "VolumeSnapshot"):
            context.caches[kind].on_change(lambda key, kind=kind: self._changed((kind, *key)))  # type: ignore[misc]
        for kind in ("StorageClass", "CDI"):
            context.caches[kind].on_change(lambda _key: self._look_again())

    def _changed(self, asked: Asked) -> None:
        for key in self._waiting.pop(asked, ()):
            self._queue.add(key)

    def _look_again(self) -> None:
        for key in [*self._unfinished]:
            self._queue.add(key)

    async def run(self) -> None:
        await self._queue.run(WORKERS, self._sync)

    async def _sync(self, key: Key) -> None:
        volume = self._volumes.get(key)
        if volume is None or volume["metadata"].get("deletionTimestamp") or _phase(volume) in _FINAL:
            self._unfinished.discard(key)
            if volume is not None:
                self._due.pop(volume["metadata"]["uid"], None)
                self._said.pop(volume["metadata"]["uid"], None)
            self._queue.forget(key)
            return
        self._unfinished.add(key)
        if not self._context.installed:
            return
        try:
            await self._advance(key, volume)
        except ApiError as error:
            log.log(logging.DEBUG if error.code in (404, 409) else logging.WARNING, "%s/%s: %s", *key, error)
            if error.code != 404:
                self._queue.retry(key)
            return
        self._queue.forget(key)

    async def _advance(self, key: Key, volume: Manifest) -> None:
        source = source_of(self._context, volume)
        claim = self._claims.get(key)
        if source.missing:
            self._wait_for(source, key)
            self._warn(volume, "CloneWithoutSource", source.missing)
            return
        if claim is not None and not claims.belongs_to(claim, volume):
            await self._take(volume, claim)
            return
        missing = labels_of.defaults(labels_of.of(volume), source.labels)
        if missing:
            volume = await self._context.patch(volume, {"metadata": {"labels": missing}})
        claim = claim or await self._new_claim(volume, source)
        claim = await self._bound(volume, claim) if claim is not None else None
        if claim is None:
            return
        if not source.ready:
            self._wait_for(source, key)
            await self._report(volume, claim, "CloneScheduled", _RUNNING)
        else:
            await self._fill(volume, claim, source)

    def _wait_for(self, source: Source, key: Key) -> None:
        if source.of is not None:
            self._waiting.setdefault(source.of, set()).add(key)

    def _warn(self, volume: Manifest, reason: str, message: str) -> None:
        uid = volume["metadata"]["uid"]
        if self._said.get(uid) != message:
            self._said[uid] = message
            self._context.recorder.warning(volume, reason, message)

    async def _take(self, volume: Manifest, claim: Manifest) -> None:
        """There is a claim of the name that the DataVolume has not made."""
        if claims.is_adopted(claim, volume):
            await self._report(volume, claim, "Succeeded", _COMPLETED)
        else:
            name = claim["metadata"]["name"]
            self._warn(
                volume, "ErrResourceExists", f'Resource "{name}" already exists and is not managed by DataVolume'
            )

    async def _new_claim(self, volume: Manifest, source: Source) -> Manifest | None:
        named = claims.class_name(volume)
        found = self._context.storage_class(named)
        if named and found is None:
            self._warn(volume, "ErrClaimNotValid", f'storageclasses.storage.k8s.io "{named}" not found')
            return None
        if found is None and claims.needs_class(volume):
            self._warn(volume, "ErrClaimNotValid", claims.NO_CLASS)
            return None
        size = claims.requested(volume) or source.size
        if size is None:
            return None
        filled = source.kind in ("pvc", "snapshot", "blank")
        name = found["metadata"]["name"] if found is not None else None
        return await self._context.create(claims.new(volume, size, name, filled))

    async def _bound(self, volume: Manifest, claim: Manifest) -> Manifest | None:
        """The claim with a volume, which nobody else provides; None while it waits for something."""
        if claims.is_bound(claim):
            return claim
        found = self._context.storage_class(claim["spec"].get("storageClassName"))
        if found is None:
            await self._report(volume, claim, "Pending", _RUNNING)
            return None
        if claims.waits_for_consumer(claim, found):
            await self._report(volume, claim, "WaitForFirstConsumer", _RUNNING)
            return None
        return await self._context.patch(claim, claims.bound(claim), "status")

    async def _fill(self, volume: Manifest, claim: Manifest, source: Source) -> None:
        if source.kind == "upload":
            await self._report(volume, claim, *_upload(claim))
        elif source.kind in ("registry", "http"):
            await self._import(volume, claim)
        elif source.kind in ("pvc", "snapshot", "blank"):
            await self._report(volume, claim, "Succeeded", _COMPLETED)
        else:
            await self._report(volume, claim, "ImportScheduled", _RUNNING)

    async def _import(self, volume: Manifest, claim: Manifest) -> None:
        uid, time = volume["metadata"]["uid"], asyncio.get_running_loop().time()
        if time < self._due.get(uid, 0):
            return
        try:
            size = importer.bytes_of(claim["spec"]["resources"]["requests"]["storage"])
            found = await importer.fill(self._context, volume, size)
        except importer.Failed as failed:
            restarts = ((volume.get("status") or {}).get("restartCount") or 0) + 1
            delay = min(_FIRST_RETRY * 2 ** min(restarts - 1, 20), _LAST_RETRY)
            self._due[uid] = time + delay
            self._queue.add_after(key_of(volume), delay)
            phase = "Failed" if failed.final else "ImportInProgress"
            self._warn(volume, failed.reason, str(failed))
            await self._report(volume, claim, phase, State("False", failed.reason, str(failed)), restarts)
            return
        present = labels_of.of(claim)
        added = {name: value for name, value in found.items() if name not in present}
        # A value that is no label value makes this fail, again and again.
        patch = {"labels": added, "annotations": {names.POD_PHASE: "Succeeded"}}
        claim = await self._context.patch(claim, {"metadata": patch})
        missing = labels_of.defaults(labels_of.of(volume), labels_of.of(claim))
        if missing:
            volume = await self._context.patch(volume, {"metadata": {"labels": missing}})
        await self._report(volume, claim, "Succeeded", _COMPLETED)

    async def _report(
        self, volume: Manifest, claim: Manifest, phase: str, running: State, restarts: int | None = None
    ) -> None:
        before = volume.get("status") or {}
        states = conditions.volume(claim, phase == "Succeeded", running)
        after = {
            **before,
            "claimName": claim["metadata"]["name"],
            "phase": phase,
            "progress": "100.0%" if phase == "Succeeded" else "N/A",
            "conditions": conditions.updated(before.get("conditions"), states),
        }
        if restarts is not None:
            after["restartCount"] = restarts
        if after != before:
            await self._context.patch(volume, {"status": after}, "status")


def _phase(volume: Manifest) -> str:
    return (volume.get("status") or {}).get("phase") or ""


def _upload(claim: Manifest) -> tuple[str, State]:
    """Phase and running state of a volume that waits for an upload, as its claim has them."""
    found = claims.marks_of(claim)
    if found.get(names.POD_PHASE) == "Succeeded":
        return "Succeeded", State("False", "Completed", "Upload Complete")
    if found.get(names.POD_READY) == "true":
        return "UploadReady", State("True", "Pod is running")
    return "UploadScheduled", _RUNNING
