"""virtual_machine: disks of another size than declared, judged by their claims in every run."""

from collections.abc import Iterator
from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, claim_of, live, manifest, objects, vm, warned


@pytest.fixture
def rigid(api: Any, namespace: str) -> Iterator[str]:
    """A StorageClass like the default one, without expansion."""
    classes = objects(api, "StorageClass")
    annotation = "storageclass.kubernetes.io/is-default-class"
    [default] = [
        item
        for item in classes.get().to_dict()["items"]
        if (item["metadata"].get("annotations") or {}).get(annotation) == "true"
    ]
    name = f"rigid-{namespace}"
    body = {key: default[key] for key in ("apiVersion", "kind", "provisioner", "parameters") if default.get(key)}
    classes.create(body={**body, "metadata": {"name": name}, "allowVolumeExpansion": False})
    yield name
    classes.delete(name=name)


def size_of(api: Any, namespace: str) -> str:
    """The size that the claim of the disk requests; "" until it is bound, since only bound claims grow."""
    claims = objects(api, "PersistentVolumeClaim").get(namespace=namespace).to_dict()
    # CDI has others while it fills it.
    found = (
        item
        for item in claims["items"]
        if item["metadata"]["name"] == "web-data" and item["status"]["phase"] == "Bound"
    )
    return next((str(item["spec"]["resources"]["requests"]["storage"]) for item in found), "")


def declare(task: Task, size: str, check: bool = False, **disk: Any) -> dict[str, Any]:
    disk = {"blank": "registry" not in disk, "size": size, **disk}
    volume = {"name": "data", "import": {option: value for option, value in disk.items() if value}}
    entry = {**vm("web", preference=None, run_strategy="Halted"), "volumes": [volume]}
    return task.outcome("virtual_machine", check=check, **entry)


def test_small_disk_is_told_in_every_run(task: Task, shop: str, api: Any) -> None:
    assert declare(task, "1Gi")["changed"]
    wait_until(lambda: size_of(api, shop) != "")
    before = size_of(api, shop)
    for _run in range(2):
        for check in (True, False):
            (warning,) = warned(declare(task, "2Gi", check))
            assert "and not the declared 2Gi" in warning and "expand: grow to grow the claim" in warning
    # Nothing has become smaller.
    assert warned(declare(task, "1Gi")) == []
    assert size_of(api, shop) == before


def test_disk_that_exists_is_told_in_every_run(task: Task, shop: str, api: Any) -> None:
    """Another source, class or mode than it was created with."""
    assert declare(task, "1Gi")["changed"]
    wait_until(lambda: size_of(api, shop) != "")
    claim = live(api, shop, "web-data", "PersistentVolumeClaim")["spec"]
    same = {"storage_class": claim["storageClassName"], "volume_mode": claim["volumeMode"]}
    assert warned(declare(task, "1Gi", **same, access_modes=claim["accessModes"])) == []
    other = {"registry": {"url": "docker://registry.example.com/os:1"}, "storage_class": "nowhere"}
    for check in (True, False, True, False):
        done = declare(task, "1Gi", check, **other)
        assert not done.get("failed"), done["msg"]
        (warning,) = warned(done)
        assert "the disk web-data has source blank and not the declared registry docker://registry" in warning
        assert f"storageClassName {claim['storageClassName']} and not the declared nowhere" in warning
    assert live(api, shop, "web-data", "PersistentVolumeClaim")["spec"] == claim


def test_clone_smaller_than_its_source(task: Task, shop: str, api: Any) -> None:
    claim_of(api, shop, "os")
    sources = objects(api, "DataSource")
    body = manifest("DataSource", "os", {"source": {"pvc": {"name": "os", "namespace": shop}}})
    sources.create(namespace=shop, body=body)
    wait_until(lambda: (live(api, shop, "os", "DataSource").get("status") or {}).get("conditions"))
    entry = vm("web", volumes=None, boot={"data_source": "os", "size": "100Mi"})
    text = f"100Mi is smaller than the source, the PersistentVolumeClaim {shop}/os with 1Gi"
    for check in (True, False):
        (warning,) = warned(task("virtual_machine", check=check, **entry))
        assert text in warning and "leave out the size, or declare 1Gi or more" in warning
    failed = task.refused("virtual_machine", **entry, wait=True)
    assert "DataVolume web-boot: " in failed["msg"]
    assert "target resources requests storage size is smaller than the source" in failed["msg"]
    entry["boot"] = {"data_source": "os", "size": "1Gi"}
    (warning,) = warned(task("virtual_machine", **entry))
    assert "has size 100Mi and not the declared 1Gi" in warning and "delete the DataVolume web-boot" in warning
    volumes = objects(api, "DataVolume")
    volumes.delete(name="web-boot", namespace=shop)
    wait_until(
        lambda: [(item.status or {}).get("phase") for item in volumes.get(namespace=shop).items] == ["Succeeded"]
    )
    assert warned(task("virtual_machine", check=True, **entry)) == []
    entry["boot"] = {"data_source": "os"}
    assert warned(task("virtual_machine", check=True, **{**entry, "name": "other"})) == []


def test_newer_image_is_no_other_source(task: Task, shop: str, api: Any) -> None:
    """KubeVirt replaces a DataSource by the claim that it names."""
    for claim in ("os-1", "os-2", "other"):
        labels = {"cdi.kubevirt.io/dataImportCron": claim.partition("-")[0]}
        claim_of(api, shop, claim, labels=labels)
    sources = objects(api, "DataSource")
    for name, claim in (("os", "os-1"), ("other", "other")):
        body = manifest("DataSource", name, {"source": {"pvc": {"name": claim, "namespace": shop}}})
        sources.create(namespace=shop, body=body)

    def boot(source: str) -> list[str]:
        entry = vm("web", run_strategy="Halted", volumes=None, boot={"data_source": source})
        return warned(task("virtual_machine", **entry))

    assert boot("os") == []
    wait_until(lambda: objects(api, "DataVolume").get(namespace=shop).items)
    newer = {"spec": {"source": {"pvc": {"name": "os-2", "namespace": shop}}}}
    sources.patch(name="os", namespace=shop, body=newer, content_type="application/merge-patch+json")
    assert boot("os") == []
    for _run in range(2):
        (warning,) = boot("other")
        texts = f"source PersistentVolumeClaim {shop}/os-1 and not the declared DataSource {shop}/other"
        assert texts in warning


def test_disk_grows_and_never_shrinks(task: Task, shop: str, api: Any) -> None:
    assert declare(task, "1Gi", expand="grow")["changed"]
    wait_until(lambda: size_of(api, shop) != "")
    before = size_of(api, shop)
    foretold = declare(task, "2Gi", check=True, expand="grow")
    assert foretold["changed"] and size_of(api, shop) == before
    grown = declare(task, "2Gi", expand="grow")
    assert grown["changed"] and not grown.get("failed"), grown
    for result in (foretold, grown):
        (disk,) = result["result"]["grown_disks"]
        assert (disk["before"], disk["after"]) == (before, "2Gi")
    assert size_of(api, shop) == "2Gi"
    assert not declare(task, "2Gi", expand="grow")["changed"]
    (warning,) = warned(declare(task, "1Gi", expand="grow"))
    assert "keeps its 2Gi, because claims never shrink" in warning
    assert size_of(api, shop) == "2Gi"


def test_disk_grows_in_an_unchanged_vm(task: Task, shop: str, api: Any) -> None:
    """An earlier run has declared the size, and only warned."""
    declare(task, "1Gi")
    wait_until(lambda: size_of(api, shop) != "")
    declare(task, "2Gi")
    grown = declare(task, "2Gi", expand="grow")
    assert (grown["changed"], grown["msg"]) == (True, "1 virtual machine: 1 changed"), grown
    assert size_of(api, shop) == "2Gi"


def test_disk_of_a_rigid_class_does_not_grow(task: Task, shop: str, api: Any, rigid: str) -> None:
    disk = {"storage_class": rigid, "access_modes": ["ReadWriteOnce"], "volume_mode": "Filesystem"}
    assert declare(task, "1Gi", **disk)["changed"]
    wait_until(lambda: size_of(api, shop) != "")
    (warning,) = warned(declare(task, "20Gi", check=True, **disk))
    assert f"KubeVirt creates it only once; its StorageClass {rigid} does not allow expansion" in warning
    for check in (True, False):
        refused = declare(task, "20Gi", check=check, expand="grow", **disk)
        assert refused["failed"] and f"its StorageClass {rigid} does not allow expansion" in refused["msg"]
