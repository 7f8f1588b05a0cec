"""The provisioner: volumes come, grow and go."""

import asyncio
from typing import Any

import pytest
from node_support import Api, named

from node.api.informer import key_of
from node.api.resources import CLAIM, STORAGE_CLASS, VOLUME
from node.storage.provisioner import NAME, Provisioner, Reclaimer, volume_name

Manifest = dict[str, Any]
CLASS = {"metadata": {"name": "local"}, "provisioner": NAME, "reclaimPolicy": "Delete"}
LATE = {**CLASS, "volumeBindingMode": "WaitForFirstConsumer"}
FOREIGN = {**CLASS, "provisioner": "example.com/other"}


def claim(name: str = "c", size: str = "1Gi", **spec: Any) -> Manifest:
    expected = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"metadata": named(name), "spec": {"storageClassName": "local", **expected, **spec}, "status": {}}


def bound(name: str = "c", size: str = "1Gi") -> Manifest:
    manifest = claim(name, size)
    manifest["spec"]["volumeName"] = volume_name(manifest)
    manifest["status"] = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    return manifest


def provisioned(*claims: Manifest, storage_class: Manifest | None = None, api: Api | None = None) -> Api:
    """The API after the provisioner has seen these claims one after the other."""
    api = api or Api()
    caches = api.cache(CLAIM), api.cache(STORAGE_CLASS, storage_class or CLASS), api.cache(VOLUME)
    provisioner = Provisioner(api.client, *caches)

    async def run() -> None:
        for entry in claims:
            api.add(CLAIM, entry)
            await provisioner.sync(key_of(entry))

    asyncio.run(run())
    return api


def volumes(api: Api) -> dict[str, Manifest]:
    return {entry["metadata"]["name"]: entry for entry in api.objects.values() if entry["kind"] == VOLUME.kind}


def test_a_claim_gets_a_volume() -> None:
    (volume,) = volumes(provisioned(claim(volumeMode="Block"))).values()
    assert volume["metadata"]["name"] == "pvc-uid-of-c"
    assert volume["spec"]["claimRef"]["uid"] == "uid-of-c"
    assert volume["spec"]["capacity"] == {"storage": "1Gi"} and volume["spec"]["volumeMode"] == "Block"
    assert volume["spec"]["csi"] == {"driver": NAME, "volumeHandle": "pvc-uid-of-c"}


@pytest.mark.parametrize(
    ("entry", "storage_class"),
    [
        (claim(), LATE),
        (claim(), FOREIGN),
        (claim(storageClassName="another"), CLASS),
        (claim(volumeName="chosen"), CLASS),
        (claim(dataSourceRef={"apiGroup": "cdi.kubevirt.io", "kind": "VolumeImportSource", "name": "s"}), CLASS),
        (claim(dataSource={"kind": "PersistentVolumeClaim", "name": "missing"}), CLASS),
    ],
)
def test_claim_of_another_provisioner_gets_no_volume(entry: Manifest, storage_class: Manifest) -> None:
    assert not volumes(provisioned(entry, storage_class=storage_class))


def test_a_copy_follows_its_source() -> None:
    copied = claim("copy", dataSource={"kind": "PersistentVolumeClaim", "name": "c"})
    assert set(volumes(provisioned(bound(), copied))) == {"pvc-uid-of-copy"}
    assert not volumes(provisioned(claim(storageClassName="another"), copied))


def test_waiting_claim_gets_volume_once_consumer_exists() -> None:
    late = claim()
    late["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "node01"}
    assert volumes(provisioned(late, storage_class=LATE))


def test_claim_can_be_expanded() -> None:
    api = provisioned(claim(), bound(), bound(size="2Gi"))
    (volume,) = volumes(api).values()
    assert volume["spec"]["capacity"] == {"storage": "2Gi"}
    assert api.objects[CLAIM.path("ns", "c")]["status"]["capacity"] == {"storage": "2Gi"}


@pytest.mark.parametrize(
    ("phase", "policy", "stays"), [("Released", "Delete", 0), ("Released", "Retain", 1), ("Bound", "Delete", 1)]
)
def test_released_volume_follows_its_reclaim_policy(phase: str, policy: str, stays: int) -> None:
    api = provisioned(claim(), storage_class={**CLASS, "reclaimPolicy": policy})
    (volume,) = volumes(api).values()
    cache = api.cache(VOLUME)
    api.add(VOLUME, {**volume, "status": {"phase": phase}})
    asyncio.run(Reclaimer(api.client, cache).sync(("", volume["metadata"]["name"])))
    assert len(volumes(api)) == stays
