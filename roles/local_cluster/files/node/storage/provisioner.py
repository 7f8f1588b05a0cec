"""Simulates the storage: a provisioner whose volumes hold nothing, but for those that real guests use.

It makes and deletes PersistentVolumes; Kubernetes' own controllers bind and release them.
"""

from __future__ import annotations

from typing import Any, Final

from node.api.client import ApiError, Client
from node.api.controller import Controller
from node.api.informer import Informer, Key, key_of
from node.api.resources import CLAIM, SNAPSHOT, VOLUME
from node.guests.store import Store

Manifest = dict[str, Any]

NAME: Final = "local.instancetypes.virtshape.io"
_PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_CLONES: Final = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))


def volume_name(claim: Manifest) -> str:
    return f"pvc-{claim['metadata']['uid']}"


def is_ours(claim: Manifest, storage_class: Manifest | None) -> bool:
    """Whether the claim waits for a volume of this provisioner, and for nothing else before."""
    if storage_class is None or storage_class.get("provisioner") != NAME:
        return False
    metadata, spec = claim["metadata"], claim["spec"]
    if metadata.get("deletionTimestamp") or spec.get("volumeName"):
        return False
    late = storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
    return not late or _SELECTED_NODE in (metadata.get("annotations") or {})


def source(claim: Manifest) -> tuple[str, str, str] | None:
    """Group, kind and name of what the volume is filled from; None for an empty one."""
    reference = claim["spec"].get("dataSourceRef") or claim["spec"].get("dataSource")
    return (reference.get("apiGroup") or "", reference["kind"], reference["name"]) if reference else None


def volume(claim: Manifest, storage_class: Manifest) -> Manifest:
    """The volume for a claim."""
    metadata, spec = claim["metadata"], claim["spec"]
    name = volume_name(claim)
    claim_ref = {"apiVersion": "v1", "kind": CLAIM.kind, "uid": metadata["uid"]}
    claim_ref.update(namespace=metadata["namespace"], name=metadata["name"])
    return {
        "apiVersion": VOLUME.api_version,
        "kind": VOLUME.kind,
        "metadata": {"name": name, "annotations": {_PROVISIONED_BY: NAME}},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": claim_ref,
            "csi": {"driver": NAME, "volumeHandle": name},
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy") or "Delete",
            "storageClassName": storage_class["metadata"]["name"],
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
    }


class Provisioner(Controller):
    """Makes volumes for claims, and larger ones for claims that grow. store: what they hold; None for nothing."""

    def __init__(
        self, client: Client, claims: Informer, classes: Informer, volumes: Informer, store: Store | None = None
    ) -> None:
        super().__init__(claims)
        self._store = store
        self._client = client
        self._classes = classes
        self._volumes = volumes
        self._waiting: dict[Key, set[Key]] = {}  # claims by the one that they are a copy of
        classes.on_change(lambda _key: self._all_again())
        claims.on_change(self._source_changed)

    def _all_again(self) -> None:
        for claim in self.cache.objects():
            self.queue.add(key_of(claim))

    def _source_changed(self, key: Key) -> None:
        for waiting in self._waiting.pop(key, ()):
            self.queue.add(waiting)

    async def sync(self, key: Key) -> None:
        claim = self.cache.get(key)
        if claim is None:
            return
        storage_class = self._classes.get(("", claim["spec"].get("storageClassName") or ""))
        if is_ours(claim, storage_class) and storage_class is not None and self._can_be_filled(claim):
            await self._provision(claim, storage_class)
        elif claim["spec"].get("volumeName"):
            await self._grow(claim)

    def _can_be_filled(self, claim: Manifest) -> bool:
        """False for a source that is the business of others, or that is not there yet."""
        reference = source(claim)
        if reference is None:
            return True
        group, kind, name = reference
        if (group, kind) not in _CLONES:
            return False
        if kind != CLAIM.kind:
            return True
        place = (claim["metadata"]["namespace"], name)
        original = self.cache.get(place)
        if original is not None and (original.get("status") or {}).get("phase") == "Bound":
            return True
        self._waiting.setdefault(place, set()).add(key_of(claim))
        return False

    async def _provision(self, claim: Manifest, storage_class: Manifest) -> None:
        if self._volumes.get(("", volume_name(claim))) is not None:
            return
        if self._store is not None:
            await self._store.copy(await self._original(claim, self._store), volume_name(claim))
        try:
            await self._client.create(VOLUME, "", volume(claim, storage_class))
        except ApiError as error:
            if error.code != 409:
                raise

    async def _original(self, claim: Manifest, store: Store) -> str:
        """The name of the volume or snapshot that a claim is a copy of; "" for none."""
        namespace, (_group, kind, name) = claim["metadata"]["namespace"], source(claim) or ("", "", "")
        if kind == SNAPSHOT.kind:
            snapshot = await self._client.get(SNAPSHOT, namespace, name)
            return str((snapshot.get("status") or {}).get("boundVolumeSnapshotContentName") or "")
        return store.volume(namespace, name) if name else ""

    async def _grow(self, claim: Manifest) -> None:
        """Gives a bound claim the capacity that it has come to ask for."""
        volume = self._volumes.get(("", claim["spec"]["volumeName"]))
        status = claim.get("status") or {}
        if volume is None or not is_own_volume(volume) or status.get("phase") != "Bound":
            return
        requested = claim["spec"]["resources"]["requests"]["storage"]
        if (status.get("capacity") or {}).get("storage") == requested:
            return
        if volume["spec"]["capacity"]["storage"] != requested:
            patch = {"spec": {"capacity": {"storage": requested}}}
            self._volumes.observe(await self._client.patch(VOLUME, "", volume["metadata"]["name"], patch))
        done = {"status": {"capacity": {"storage": requested}, "conditions": None, "allocatedResourceStatuses": None}}
        await self._client.patch(CLAIM, *key_of(claim), done, subresource="status")


class Reclaimer(Controller):
    """Deletes volumes whose claim has gone."""

    def __init__(self, client: Client, volumes: Informer, store: Store | None = None) -> None:
        super().__init__(volumes)
        self._client = client
        self._store = store

    async def sync(self, key: Key) -> None:
        volume = self.cache.get(key)
        if volume is None or not is_own_volume(volume) or volume["metadata"].get("deletionTimestamp"):
            return
        released = (volume.get("status") or {}).get("phase") == "Released"
        if released and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
            await self._client.delete(VOLUME, "", key[1])
            if self._store is not None:
                self._store.delete(key[1])


def is_own_volume(volume: Manifest) -> bool:
    return (volume["metadata"].get("annotations") or {}).get(_PROVISIONED_BY) == NAME
