"""The upload controller: lets claims that are prepared for an upload take one."""

from __future__ import annotations

import logging

from kubevirt_emulation.cdi import claims, names
from kubevirt_emulation.cdi.context import Context
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.informer import Key
from kubevirt_emulation.workqueue import WorkQueue

log = logging.getLogger(__name__)

WORKERS = 2


class UploadController:
    """Works on claims that have changed. There is no pod: a bound claim is ready at once."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._claims = context.caches["PersistentVolumeClaim"]
        self._queue: WorkQueue[Key] = WorkQueue()
        self._claims.on_change(self._queue.add)

    async def run(self) -> None:
        await self._queue.run(WORKERS, self._sync)

    async def _sync(self, key: Key) -> None:
        claim = self._claims.get(key)
        if claim is None or claim["metadata"].get("deletionTimestamp") or not self._context.installed:
            return
        marks = claims.marks_of(claim)
        if names.UPLOAD_TARGET not in marks or names.POD_PHASE in marks:
            return
        try:
            if not claims.is_bound(claim):
                found = self._context.storage_class(claim["spec"].get("storageClassName"))
                if found is None or claims.waits_for_consumer(claim, found):
                    return
                claim = await self._context.patch(claim, claims.bound(claim), "status")
            ready = {names.POD_PHASE: "Running", names.POD_READY: "true"}
            await self._context.patch(claim, {"metadata": {"annotations": ready}})
        except ApiError as error:
            if error.code != 404:
                log.debug("%s/%s: %s", *key, error)
                self._queue.retry(key)
            return
        self._queue.forget(key)
