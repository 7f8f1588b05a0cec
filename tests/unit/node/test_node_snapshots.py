"""The driver of volume snapshots: snapshots are taken, refused and go."""

import asyncio
from typing import Any

import pytest
from node_support import Api, named
from test_node_storage import bound, claim

from node.api.informer import Key, key_of
from node.api.resources import CLAIM, SNAPSHOT, SNAPSHOT_CLASS, SNAPSHOT_CONTENT, VOLUME
from node.storage.provisioner import NAME, volume_name
from node.storage.snapshotter import Snapshotter

Manifest = dict[str, Any]
CLASS = {"metadata": {"name": "local"}, "driver": NAME, "deletionPolicy": "Delete"}


def snapshot(name: str = "s", snapshot_class: str | None = "local", **source: str) -> Manifest:
    spec = {"volumeSnapshotClassName": snapshot_class, "source": source or {"persistentVolumeClaimName": "c"}}
    return {"metadata": named(name), "spec": spec}


def volume(driver: str = NAME) -> Manifest:
    name = volume_name(claim())
    csi = {"driver": driver, "volumeHandle": name}
    return {"metadata": {"name": name}, "spec": {"csi": csi, "capacity": {"storage": "1Gi"}}}


class Driver:
    """A driver, and the objects of its API."""

    def __init__(self, snapshot_class: Manifest = CLASS, volume: Manifest | None = None) -> None:
        self.api = Api()
        self._snapshots = self.api.cache(SNAPSHOT)
        contents, classes = self.api.cache(SNAPSHOT_CONTENT), self.api.cache(SNAPSHOT_CLASS, snapshot_class)
        claims, volumes = self.api.cache(CLAIM), self.api.cache(VOLUME, *([volume] if volume else []))
        self.driver = Snapshotter(self.api.client, self._snapshots, contents, classes, claims, volumes)

    def sync(self, key: Key = ("ns", "s")) -> None:
        asyncio.run(self.driver.sync(key))

    def take(self, entry: Manifest) -> Manifest:
        """The snapshot after the driver has seen it."""
        self.api.add(SNAPSHOT, entry)
        self.sync(key_of(entry))
        return self.api.objects[SNAPSHOT.path(*key_of(entry))]

    def contents(self) -> list[Manifest]:
        return [entry for entry in self.api.objects.values() if entry["kind"] == SNAPSHOT_CONTENT.kind]


def test_snapshot_of_a_bound_claim_is_ready() -> None:
    driver = Driver(volume=volume())
    driver.api.add(CLAIM, bound())
    status = driver.take(snapshot())["status"]
    (content,) = driver.contents()
    assert status["readyToUse"] and status["restoreSize"] == "1Gi" and status["creationTime"]
    assert status["boundVolumeSnapshotContentName"] == content["metadata"]["name"] == "snapcontent-uid-of-s"
    assert content["spec"]["source"] == {"volumeHandle": volume_name(claim())}
    assert content["spec"]["volumeSnapshotRef"]["uid"] == "uid-of-s"
    assert content["status"]["readyToUse"] and content["status"]["restoreSize"] == 1024**3
    written = len(driver.api.written)
    driver.sync()
    assert len(driver.api.written) == written


def test_snapshot_waits_until_its_claim_is_bound() -> None:
    driver = Driver(volume=volume())
    status = driver.take(snapshot())["status"]
    assert not status["readyToUse"] and "the claim c is not bound" in status["error"]["message"]
    written = len(driver.api.written)
    driver.sync()
    assert len(driver.api.written) == written
    driver.api.add(CLAIM, bound())
    driver.sync()
    status = driver.api.objects[SNAPSHOT.path("ns", "s")]["status"]
    assert status["readyToUse"] and "error" not in status


@pytest.mark.parametrize(
    ("entry", "snapshot_class"),
    [
        (snapshot(), {**CLASS, "driver": "example.com/other"}),
        (snapshot(snapshot_class=None), CLASS),
        (snapshot(volumeSnapshotContentName="made-before"), CLASS),
        ({"metadata": named("s"), "spec": {}}, CLASS),
    ],
)
def test_snapshots_of_others_are_left_alone(entry: Manifest, snapshot_class: Manifest) -> None:
    driver = Driver(snapshot_class, volume())
    driver.api.add(CLAIM, bound())
    assert "status" not in driver.take(entry)
    assert not driver.contents()


def test_volume_of_another_driver_has_no_snapshots() -> None:
    driver = Driver(volume=volume("example.com/other"))
    driver.api.add(CLAIM, bound())
    assert not driver.take(snapshot())["status"]["readyToUse"]


def test_interrupted_snapshot_is_taken_to_its_end() -> None:
    driver = Driver(volume=volume())
    driver.api.add(CLAIM, bound())
    driver.take(snapshot())
    assert driver.take(snapshot())["status"]["readyToUse"]


@pytest.mark.parametrize(("policy", "left"), [("Delete", 0), ("Retain", 1)])
def test_content_goes_with_its_snapshot(policy: str, left: int) -> None:
    driver = Driver({**CLASS, "deletionPolicy": policy}, volume())
    driver.api.add(CLAIM, bound())
    driver.take(snapshot())
    driver.take(snapshot("other"))
    driver.driver.cache._objects.pop(("ns", "s"))
    driver.sync()
    assert len(driver.contents()) == 1 + left
