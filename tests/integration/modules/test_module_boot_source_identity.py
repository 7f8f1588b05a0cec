"""boot_source: objects of the names that it makes, which somebody else has made."""

from typing import Any

import pytest

from modules_support import Task, claim_of, live, manifest, objects

DIGEST = "a" * 64
IMAGE = {"image": f"registry.example/disks/os@sha256:{DIGEST}", "query_registry": False, "size": "1Gi"}
POLLED = {**IMAGE, "image": "registry.example/disks/os", "schedule": "0 0 1 1 *"}
STORAGE = {"resources": {"requests": {"storage": "1Gi"}}}
VOLUME = f"os-{DIGEST[:12]}"
FOREIGN = "exists and was not made for the boot source os"

pytestmark = pytest.mark.needs("cdi_here")


def source_of(image: str) -> dict[str, Any]:
    return {"source": {"registry": {"url": f"docker://{image}"}}, "storage": STORAGE}


def make(api: Any, namespace: str, kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> str:
    """Makes an object as others do, and returns its UID."""
    body = manifest(kind, name, spec, **metadata)
    return str(objects(api, kind).create(namespace=namespace, body=body).metadata.uid)


@pytest.mark.parametrize("image", [IMAGE["image"], "registry.example/another/image"])
def test_data_volume_is_not_taken_over(task: Task, namespace: str, api: Any, image: str) -> None:
    make(api, namespace, "DataVolume", VOLUME, source_of(image))
    for check in (True, False):
        refused = task.refused("boot_source", check=check, name="os", **IMAGE)
        assert FOREIGN in refused["msg"] and not refused["changed"]
    labels = live(api, namespace, VOLUME, "DataVolume")["metadata"].get("labels") or {}
    assert "instancetypes.virtshape.io/boot-source" not in labels
    assert objects(api, "DataSource").get(namespace=namespace).to_dict()["items"] == []


def test_claim_is_not_taken_over(task: Task, namespace: str, api: Any) -> None:
    claim_of(api, namespace, VOLUME)
    for check in (True, False):
        refused = task.refused("boot_source", check=check, name="os", **IMAGE)
        assert f"Destination PVC {namespace}/{VOLUME} already exists" in refused["msg"]


@pytest.mark.parametrize("policy", ["All", "None"])
def test_cron_is_neither_replaced_nor_deleted(task: Task, namespace: str, api: Any, policy: str) -> None:
    template = {"spec": source_of("registry.example/another/image")}
    fields = {"managedDataSource": "os", "schedule": "0 0 1 1 *", "retentionPolicy": policy, "template": template}
    uid = make(api, namespace, "DataImportCron", "os", fields)
    for options in (POLLED, {"state": "absent"}):
        for check in (True, False):
            refused = task.refused("boot_source", check=check, name="os", **options)
            assert f"the DataImportCron os {FOREIGN}" in refused["msg"] and not refused["changed"]
    assert live(api, namespace, "os", "DataImportCron")["metadata"]["uid"] == uid
    task("boot_source", name="os", state="absent", force_conflicts=True, wait=True)
    assert objects(api, "DataImportCron").get(namespace=namespace).to_dict()["items"] == []


@pytest.mark.parametrize("target", ["disk", "other"])
def test_data_source_is_neither_declared_nor_deleted(task: Task, namespace: str, api: Any, target: str) -> None:
    claim_of(api, namespace, "disk")
    uid = make(api, namespace, "DataSource", "os", {"source": {"pvc": {"name": target, "namespace": namespace}}})
    declared = {"pvc": {"name": "disk", "namespace": namespace}}
    foreign = f"the DataSource os {FOREIGN}"
    for options in (declared, {**declared, "preflight": "off"}, IMAGE, {"state": "absent"}):
        for check in (True, False):
            refused = task.refused("boot_source", check=check, name="os", **options)
            assert foreign in refused["msg"] and not refused["changed"]
    source = live(api, namespace, "os", "DataSource")["metadata"]
    assert source["uid"] == uid and not source.get("labels")
    assert objects(api, "DataVolume").get(namespace=namespace).to_dict()["items"] == []
    # A label does not make the object the task's.
    label = {"kind": "DataSource", "state": "labeled", "instancetype": "u1.small", "preflight": "off"}
    assert task("boot_source", name="os", **label)["changed"]
    assert foreign in task.refused("boot_source", name="os", state="absent")["msg"]
    assert foreign in task.refused("boot_source", name="os", **declared)["msg"]
    task("boot_source", name="os", force_conflicts=True, **declared)
    assert not task("boot_source", name="os", **declared)["changed"]
    assert task("boot_source", name="os", state="absent")["changed"]
