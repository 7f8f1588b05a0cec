"""The DataImportCron controller: polls images, imports new ones and moves the DataSource to them."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import Any

from kubevirt_emulation.cdi import claims, conditions, cron_rules, importer, names
from kubevirt_emulation.cdi import labels as labels_of
from kubevirt_emulation.cdi.conditions import State
from kubevirt_emulation.cdi.context import Context
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.informer import Key, key_of
from kubevirt_emulation.resources import KINDS
from kubevirt_emulation.workqueue import WorkQueue

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

WORKERS = 3
_NO_IMPORT = State("False", "NoImport", "No current import")
_STOPPED = ("Error", "ImagePullFailed")


class ImportCronController:
    """Works on crons that have changed, or what they have made, and when they are due."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._crons = context.caches["DataImportCron"]
        self._queue: WorkQueue[Key] = WorkQueue()
        self._crons.on_change(self._queue.add)
        for kind in ("DataVolume", "DataSource"):
            cache = context.caches[kind]
            cache.on_change(lambda key, cache=cache: self._made(cache.get(key)))  # type: ignore[misc]
        context.caches["CDI"].on_change(lambda _key: self._look_again())

    def _made(self, found: Manifest | None) -> None:
        owner = labels_of.of(found).get(names.CRON)
        if found is not None and owner:
            self._queue.add((found["metadata"]["namespace"], owner))

    def _look_again(self) -> None:
        for one in self._crons.objects():
            self._queue.add(key_of(one))

    async def run(self) -> None:
        await self._queue.run(WORKERS, self._sync)

    async def _sync(self, key: Key) -> None:
        if not self._context.installed:
            return
        cron = self._crons.get(key)
        try:
            if cron is None or cron["metadata"].get("deletionTimestamp"):
                await self._clean_up(key)
            elif not self._is_of_another(cron):
                await self._advance(cron)
        except ApiError as error:
            log.debug("%s/%s: %s", *key, error)
            self._queue.retry(key)
            return
        self._queue.forget(key)

    def _is_of_another(self, cron: Manifest) -> bool:
        """Whether the DataSource is another cron's."""
        namespace, wanted = cron["metadata"]["namespace"], cron["spec"]["managedDataSource"]
        owner = labels_of.of(self._context.caches["DataSource"].get((namespace, wanted))).get(names.CRON)
        other = self._crons.get((namespace, owner)) if owner and owner != cron["metadata"]["name"] else None
        if other is None or other["spec"]["managedDataSource"] != wanted:
            return False
        message = f"DataSource {wanted} is already managed by DataImportCron {owner}"
        self._context.recorder.warning(cron, "ErrDataSourceAlreadyManaged", message)
        return True

    async def _clean_up(self, key: Key) -> None:
        for kind in ("DataSource", "DataVolume", "PersistentVolumeClaim"):
            for one in self._context.caches[kind].objects():
                found = labels_of.of(one)
                if (one["metadata"]["namespace"], found.get(names.CRON)) == key and names.CRON_CLEANUP in found:
                    await self._context.delete(one)

    async def _advance(self, cron: Manifest) -> None:
        await self._poll(cron)
        cron = self._crons.get((cron["metadata"]["namespace"], cron["metadata"]["name"])) or cron
        status = {**(cron.get("status") or {})}
        progress, done = await self._import_state(cron, status)
        if done:
            status = self._succeeded(cron, status)
            await self._collect(cron)
        await self._move(cron, status)
        up_to_date = await self._import_next(cron, status, done)
        states = {"Progressing": progress, "UpToDate": up_to_date}
        status["conditions"] = conditions.updated(status.get("conditions"), states)
        # What a merge leaves out would stay.
        before = cron.get("status") or {}
        patch = {**dict.fromkeys(before.keys() - status.keys()), **status}
        if status != before:
            await self._context.patch(cron, {"status": patch})

    async def _poll(self, cron: Manifest) -> None:
        """Asks for the digest when that is due, at once for a new cron, and notes when it is due again."""
        now, metadata = datetime.now(timezone.utc), cron["metadata"]
        key, marks = (metadata["namespace"], metadata["name"]), claims.marks_of(cron)
        following = cron_rules.next_poll(cron, now)
        if following is None:
            return
        due = datetime.fromisoformat(marks[names.NEXT_POLL]) if names.NEXT_POLL in marks else now
        if due > now:
            self._queue.add_after(key, (due - now).total_seconds())
            return
        noted = {names.NEXT_POLL: following.isoformat(timespec="seconds"), names.LAST_POLL: now.isoformat()}
        digest = await self._digest(cron)
        if digest:
            noted[names.DESIRED_DIGEST] = digest
        await self._context.patch(cron, {"metadata": {"annotations": noted}})
        self._queue.add_after(key, (following - now).total_seconds())

    async def _digest(self, cron: Manifest) -> str:
        source = cron["spec"]["template"]["spec"]["source"]
        if source.get("pvc") is not None:
            namespace = source["pvc"].get("namespace") or cron["metadata"]["namespace"]
            claim = self._context.caches["PersistentVolumeClaim"].get((namespace, source["pvc"]["name"]))
            return f"uid:{claim['metadata']['uid']}" if claim is not None else ""
        try:
            # The Job that asks runs in CDI's namespace, with the Secret there.
            return (await importer.pull(self._context, source["registry"], names.NAMESPACE)).digest
        except importer.Failed as failed:
            log.info("%s/%s: %s", cron["metadata"]["namespace"], cron["metadata"]["name"], failed)
            return ""

    async def _import_state(self, cron: Manifest, status: Manifest) -> tuple[State, bool]:
        """How far the current import is, and whether it has succeeded."""
        volume, claim = self._current(cron, status)
        phase = ((volume or {}).get("status") or {}).get("phase") or ""
        if volume is None and claim is None:
            status["currentImports"] = (status.get("currentImports") or [])[1:]
            return _NO_IMPORT, False
        if phase == "Succeeded" or (volume is None and claim is not None and claims.is_bound(claim)):
            if claim is not None:
                await self._use(cron, claim)
            return _NO_IMPORT, True
        if phase == "ImportInProgress":
            return State("True", "ImportProgressing", "Import is progressing"), False
        if phase == "ImportScheduled":
            return State("False", "ImportScheduled", "Import is scheduled"), False
        return State("False", phase, f"Import DataVolume phase {phase}"), False

    def _current(self, cron: Manifest, status: Manifest) -> tuple[Manifest | None, Manifest | None]:
        imports = status.get("currentImports") or []
        if not imports:
            return None, None
        key = (cron["metadata"]["namespace"], imports[0]["DataVolumeName"])
        return self._context.caches["DataVolume"].get(key), self._context.caches["PersistentVolumeClaim"].get(key)

    async def _use(self, cron: Manifest, claim: Manifest) -> None:
        """Notes that a claim is in use, once for each time that it becomes the current one."""
        used = claims.marks_of(claim).get(names.LAST_USE, "")
        current = (cron.get("status") or {}).get("lastImportedPVC") or {}
        wanted = cron_rules.labels(cron)
        if used and current.get("name") == claim["metadata"]["name"] and wanted.items() <= labels_of.of(claim).items():
            return
        body = {"labels": wanted, "annotations": {names.LAST_USE: _now()}}
        await self._context.patch(claim, {"metadata": body})

    def _succeeded(self, cron: Manifest, status: Manifest) -> Manifest:
        name = status["currentImports"][0]["DataVolumeName"]
        imported = {"name": name, "namespace": cron["metadata"]["namespace"]}
        if status.get("lastImportedPVC") == imported:
            return status
        return {**status, "lastImportedPVC": imported, "lastImportTimestamp": _now(), "sourceFormat": "pvc"}

    async def _collect(self, cron: Manifest) -> None:
        namespace = cron["metadata"]["namespace"]
        own = [
            one
            for one in self._context.caches["PersistentVolumeClaim"].objects()
            if one["metadata"]["namespace"] == namespace and not one["metadata"].get("deletionTimestamp")
        ]
        for name in cron_rules.outdated(cron, own):
            volume = self._context.caches["DataVolume"].get((namespace, name))
            kind = "DataVolume" if volume is not None else "PersistentVolumeClaim"
            try:
                await self._context.client.delete(KINDS[kind], namespace, name)
            except ApiError as error:
                if error.code != 404:
                    raise

    async def _move(self, cron: Manifest, status: Manifest) -> None:
        """Makes the DataSource, or lets it lead to what was imported last; another's stays as it is."""
        wanted = cron_rules.data_source(cron)
        metadata = wanted["metadata"]
        found = self._context.caches["DataSource"].get((metadata["namespace"], metadata["name"]))
        if found is None:
            found = await self._context.create(wanted)
        if labels_of.of(found).get(names.CRON) != cron["metadata"]["name"]:
            return
        imported = status.get("lastImportedPVC")
        source = {"pvc": imported} if imported else found["spec"].get("source") or {}
        labels = {**labels_of.of(found), **metadata["labels"]}
        after = {**found, "metadata": {**found["metadata"], "labels": labels}, "spec": {"source": source}}
        if after != found:
            self._context.caches["DataSource"].observe(await self._context.client.update(KINDS["DataSource"], after))

    async def _import_next(self, cron: Manifest, status: Manifest, done: bool) -> State:
        """Imports a digest that is new, unless another import is under way; says whether all is current."""
        digest = claims.marks_of(cron).get(names.DESIRED_DIGEST, "")
        imports = status.get("currentImports") or []
        if not digest and not imports:
            return State("False", "NoDigest", "No source digest")
        if not digest or (imports and imports[0]["Digest"] == digest):
            if done:
                return State("True", "UpToDate", "Latest import is up to date")
            return State("False", "ImportProgressing", "Import is progressing")
        volume, _claim = self._current(cron, status)
        if volume is not None and _is_stuck(volume):
            await self._context.delete(volume)
            imports = []
        if done or not imports:
            await self._import(cron, digest)
            status["currentImports"] = [{"DataVolumeName": cron_rules.volume_name(cron, digest), "Digest": digest}]
        return State("False", "Outdated", "Source digest updated since last import")

    async def _import(self, cron: Manifest, digest: str) -> None:
        key = (cron["metadata"]["namespace"], cron_rules.volume_name(cron, digest))
        claim = self._context.caches["PersistentVolumeClaim"].get(key)
        if claim is not None:
            await self._use(cron, claim)
            return
        try:
            await self._context.create(cron_rules.volume(cron, digest, _now()))
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise


def _is_stuck(volume: Manifest) -> bool:
    """Whether an import fails again and again."""
    states = (volume.get("status") or {}).get("conditions") or []
    return any(
        one["type"] == "Running" and one["status"] == "False" and one.get("reason") in _STOPPED for one in states
    )


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()
