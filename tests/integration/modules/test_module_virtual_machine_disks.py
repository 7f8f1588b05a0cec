"""virtual_machine: disks of another size than declared, judged by their claims in every run."""

from collections.abc import Iterator
from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, objects, vm, warned


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
    volume = {"name": "data", "import": {"blank": True, "size": size, **disk}}
    entry = {**vm("web", preference=None, run_strategy="Halted"), "volumes": [volume]}
    return task.outcome("virtual_machine", check=check, **entry)


def test_small_disk_is_told_in_every_run(task: Task, shop: str, api: Any) -> None:
    assert declare(task, "1Gi")["changed"]
    wait_until(lambda: size_of(api, shop) != "")
    before = size_of(api, shop)
    for _run in range(2):
        for check in (True, False):
            (warning,) = warned(declare(task, "2Gi", check))
            assert "and not the declared 2Gi" in warning and "set expand: grow" in warning
    # Nothing has become smaller.
    assert warned(declare(task, "1Gi")) == []
    assert size_of(api, shop) == before


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
