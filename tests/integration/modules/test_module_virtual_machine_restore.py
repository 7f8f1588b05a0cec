"""virtual_machine: VMs whose disks come from a snapshot, a clone or a backup, or were left by an earlier VM."""

from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, live, manifest, objects, server_side_apply, vm

pytestmark = pytest.mark.needs("cdi_here", "snapshots")

GROUP, SNAPSHOT = "snapshot.kubevirt.io/v1beta1", {"virtualMachineSnapshotName": "before"}
MISSING = "exists and has no owner"


def web(name: str = "web", disk: str | None = None) -> dict[str, Any]:
    volume = {"name": "root", "import": {"blank": True, "size": "1Gi", "name": disk}}
    return {**vm(name, preference=None, run_strategy="Halted"), "volumes": [volume]}


def a_vm(name: str) -> dict[str, Any]:
    return {"apiGroup": "kubevirt.io", "kind": "VirtualMachine", "name": name}


class Snapshots:
    """The snapshots of KubeVirt, and what is made of them."""

    def __init__(self, api: Any, namespace: str) -> None:
        self._api, self._namespace = api, namespace

    def make(self, version: str, kind: str, name: str, done: str, spec: dict[str, Any]) -> None:
        """Makes an object and waits until the field of its status has a value."""
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
        resource = self._api.resources.get(api_version=version, kind=kind)
        resource.create(namespace=self._namespace, body=body)

        def is_done() -> bool:
            status = resource.get(name=name, namespace=self._namespace).to_dict().get("status") or {}
            return status.get(done) in (True, "Succeeded")

        wait_until(is_done)


def disk_of(api: Any, namespace: str, name: str) -> str:
    """The DataVolume that the VM makes."""
    return str(live(api, namespace, name)["spec"]["dataVolumeTemplates"][0]["metadata"]["name"])


def test_restored_disks_are_declared_as_they_are(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **web())
    wait_until(lambda: objects(api, "PersistentVolumeClaim").get(namespace=shop).items)
    snapshots = Snapshots(api, shop)
    snapshots.make(GROUP, "VirtualMachineSnapshot", "before", "readyToUse", {"source": a_vm("web")})
    for target in ("web", "second"):
        restore = {"target": a_vm(target), **SNAPSHOT}
        snapshots.make(GROUP, "VirtualMachineRestore", target, "complete", restore)
    clone = {"source": a_vm("web"), "target": a_vm("third")}
    snapshots.make("clone.kubevirt.io/v1beta1", "VirtualMachineClone", "third", "phase", clone)
    for name in ("web", "second", "third"):
        disk = disk_of(api, shop, name)
        assert disk.startswith("restore-")
        for check in (True, False):
            refused = task.refused("virtual_machine", check=check, **web(name))
            assert '"virt-controller" owns spec.dataVolumeTemplates' in refused["msg"]
            assert "disks" in refused["msg"].rpartition(";")[2]
        declared = task("virtual_machine", **web(name, disk))
        assert "warnings" not in declared
        assert not task("virtual_machine", **web(name, disk))["changed"]
    # In place, the disk has the name that it had.
    restore = {"target": a_vm("web"), **SNAPSHOT, "volumeRestorePolicy": "InPlace"}
    snapshots.make(GROUP, "VirtualMachineRestore", "in-place", "complete", restore)
    assert disk_of(api, shop, "web") == "web-root"
    assert "warnings" not in task("virtual_machine", **web())


def test_disk_of_an_earlier_vm_keeps_its_content(task: Task, shop: str, api: Any) -> None:
    entry = web()
    entry.pop("instancetype")
    entry["memory"] = "1Gi"
    task("virtual_machine", **entry)
    wait_until(lambda: objects(api, "DataVolume").get(namespace=shop).items)
    wait_until(lambda: objects(api, "PersistentVolumeClaim").get(namespace=shop).items)
    uid = live(api, shop, "web-root", "PersistentVolumeClaim")["metadata"]["uid"]
    orphan = {"propagationPolicy": "Orphan"}
    objects(api, "VirtualMachine").delete(name="web", namespace=shop, body=orphan)
    wait_until(lambda: not objects(api, "VirtualMachine").get(namespace=shop).items)
    assert f"the DataVolume web-root {MISSING}" in task.refused("virtual_machine", **entry)["msg"]
    task("virtual_machine", adopt_disks=True, **entry)
    wait_until(lambda: live(api, shop, "web-root", "DataVolume")["metadata"].get("ownerReferences"))
    assert live(api, shop, "web-root", "PersistentVolumeClaim")["metadata"]["uid"] == uid
    assert not task("virtual_machine", **entry)["changed"]


def test_backup_restores_the_disk_before_its_vm(task: Task, shop: str, api: Any) -> None:
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    task("virtual_machine", **web())
    backup = live(api, shop)
    task("virtual_machine", name="web", state="absent", wait=True)
    wait_until(lambda: not objects(api, "DataVolume").get(namespace=shop).items)
    body = manifest("DataVolume", "web-root", {"source": {"blank": {}}, "storage": storage})
    objects(api, "DataVolume").create(namespace=shop, body=body)
    uid = live(api, shop, "web-root", "DataVolume")["metadata"]["uid"]
    assert f"the DataVolume web-root {MISSING}" in task.refused("virtual_machine", **web())["msg"]
    metadata = {"name": "web", "namespace": shop}
    restored = {"apiVersion": backup["apiVersion"], "kind": backup["kind"], "metadata": metadata}
    server_side_apply(objects(api, "VirtualMachine"), {**restored, "spec": backup["spec"]}, "velero")
    assert "warnings" not in task("virtual_machine", **web())
    wait_until(lambda: live(api, shop, "web-root", "DataVolume")["metadata"].get("ownerReferences"))
    assert not task("virtual_machine", **web())["changed"]
    assert live(api, shop, "web-root", "DataVolume")["metadata"]["uid"] == uid
