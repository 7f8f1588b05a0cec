"""Simulates snapshots of volumes: the snapshot controller with the driver of the simulated storage.

A snapshot holds what its volume does, which is nothing without real guests; a claim that is restored from it gets a
volume from the provisioner.
"""

from __future__ import annotations

import time
from typing import Any, Final

from node.api.client import ApiError, Client
from node.api.clock import now
from node.api.controller import Controller
from node.api.informer import Informer, Key, key_of
from node.api.resources import SNAPSHOT, SNAPSHOT_CONTENT, Resource
from node.cdi.quantity import parse
from node.guests.store import Store
from node.storage.provisioner import NAME

Manifest = dict[str, Any]

_NOT_BOUND: Final = "the claim {} is not bound to a volume of this driver"


def content_name(snapshot: Manifest) -> str:
    return f"snapcontent-{snapshot['metadata']['uid']}"


def content(snapshot: Manifest, snapshot_class: Manifest, volume: Manifest) -> Manifest:
    """The content of a snapshot of a volume, without its status."""
    metadata = snapshot["metadata"]
    reference = {"apiVersion": SNAPSHOT.api_version, "kind": SNAPSHOT.kind}
    reference.update({field: metadata[field] for field in ("namespace", "name", "uid")})
    return {
        "apiVersion": SNAPSHOT_CONTENT.api_version,
        "kind": SNAPSHOT_CONTENT.kind,
        "metadata": {"name": content_name(snapshot)},
        "spec": {
            "deletionPolicy": snapshot_class["deletionPolicy"],
            "driver": NAME,
            "source": {"volumeHandle": volume["spec"]["csi"]["volumeHandle"]},
            "volumeSnapshotClassName": snapshot_class["metadata"]["name"],
            "volumeSnapshotRef": reference,
        },
    }


class Snapshotter(Controller):
    """Takes the snapshots of its classes, and deletes the contents of those that have gone.

    store: what volumes hold; None for nothing.
    """

    def __init__(
        self,
        client: Client,
        snapshots: Informer,
        contents: Informer,
        classes: Informer,
        claims: Informer,
        volumes: Informer,
        store: Store | None = None,
    ) -> None:
        super().__init__(snapshots)
        self._client = client
        self._contents = contents
        self._classes = classes
        self._claims = claims
        self._volumes = volumes
        self._store = store
        for cache in (classes, claims):
            cache.on_change(lambda _key: self._those_to_take())

    def _those_to_take(self) -> None:
        for snapshot in self.cache.objects():
            if not _is_ready(snapshot):
                self.queue.add(key_of(snapshot))

    async def sync(self, key: Key) -> None:
        snapshot = self.cache.get(key)
        await self._reclaim(key, "" if snapshot is None else snapshot["metadata"]["uid"])
        if snapshot is None or snapshot["metadata"].get("deletionTimestamp") or _is_ready(snapshot):
            return
        snapshot_class = self._classes.get(("", snapshot["spec"].get("volumeSnapshotClassName") or ""))
        claim = (snapshot["spec"].get("source") or {}).get("persistentVolumeClaimName")
        if snapshot_class is None or snapshot_class["driver"] != NAME or not claim:
            return
        volume = self._volume((key[0], claim))
        if volume is None:
            problem = {"message": _NOT_BOUND.format(claim), "time": now()}
            if (_status(snapshot).get("error") or {}).get("message") != problem["message"]:
                await self._report(SNAPSHOT, key, {"error": problem, "readyToUse": False})
            return
        await self._take(key, snapshot, snapshot_class, volume)

    async def _reclaim(self, key: Key, uid: str) -> None:
        """Deletes what earlier snapshots of the same name have left. uid: that of the present one, "" for none."""
        for item in self._contents.objects():
            spec = item["spec"]
            reference = spec["volumeSnapshotRef"]
            of_this = (reference["namespace"], reference["name"]) == key and reference.get("uid") not in (None, uid)
            if of_this and spec["driver"] == NAME and spec["deletionPolicy"] == "Delete":
                await self._client.delete(SNAPSHOT_CONTENT, "", item["metadata"]["name"])
                if self._store is not None:
                    self._store.delete(item["metadata"]["name"])

    def _volume(self, claim_key: Key) -> Manifest | None:
        """The bound volume of a claim, if it is of this storage."""
        claim = self._claims.get(claim_key)
        if claim is None or (claim.get("status") or {}).get("phase") != "Bound":
            return None
        volume = self._volumes.get(("", claim["spec"]["volumeName"]))
        return volume if ((volume or {}).get("spec") or {}).get("csi", {}).get("driver") == NAME else None

    async def _take(self, key: Key, snapshot: Manifest, snapshot_class: Manifest, volume: Manifest) -> None:
        name, size = content_name(snapshot), volume["spec"]["capacity"]["storage"]
        if self._store is not None:
            await self._store.copy(volume["metadata"]["name"], name)
        try:
            await self._client.create(SNAPSHOT_CONTENT, "", content(snapshot, snapshot_class, volume))
        except ApiError as error:
            if error.code != 409:
                raise
        taken = {"creationTime": time.time_ns(), "restoreSize": parse(size), "snapshotHandle": name}
        await self._report(SNAPSHOT_CONTENT, ("", name), {**taken, "readyToUse": True})
        bound = {"boundVolumeSnapshotContentName": name, "creationTime": now(), "restoreSize": size}
        await self._report(SNAPSHOT, key, {**bound, "readyToUse": True, "error": None})

    async def _report(self, kind: Resource, key: Key, status: Manifest) -> None:
        await self._client.patch(kind, *key, {"status": status}, subresource="status")


def _status(snapshot: Manifest) -> Manifest:
    return snapshot.get("status") or {}


def _is_ready(snapshot: Manifest) -> bool:
    return bool(_status(snapshot).get("readyToUse"))
