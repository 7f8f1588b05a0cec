"""Disks that are smaller than declared, judged by their claims."""

from typing import Any

import pytest

from plugins.module_utils._boot_sources import disk_sizes
from plugins.module_utils._boot_sources.disk_sizes import SmallDisk
from plugins.module_utils._boot_sources.unusable_sources import boot_source_findings
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

PATH = "spec.dataVolumeTemplates[0]"


def requested(size: str) -> dict[str, Any]:
    return {"resources": {"requests": {"storage": size} if size else {}}}


def vm(size: str, field: str = "storage") -> dict[str, Any]:
    template = {"metadata": {"name": "web-boot"}, "spec": {field: requested(size)}}
    return {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"dataVolumeTemplates": [template]}}


def claim(size: str) -> Objects:
    metadata = {"name": "web-boot", "namespace": "shop"}
    spec = {**requested(size), "storageClassName": "fast"}
    return Objects([{"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}])


def classes(expands: bool) -> dict[str, Any]:
    return {"fast": {"metadata": {"name": "fast"}, "allowVolumeExpansion": expands}}


DISK = SmallDisk(PATH, "shop", "web-boot", "20Gi", "40Gi", "fast")


@pytest.mark.parametrize("field", ["storage", "pvc"])
@pytest.mark.parametrize(("size", "small"), [("40Gi", True), ("20480Mi", False), ("10Gi", False), ("", False)])
def test_small_disks(size: str, small: bool, field: str) -> None:
    assert list(disk_sizes.disks_to_grow(vm(size, field), claim("20Gi"))) == ([DISK] if small else [])


def test_a_claim_without_storage_cannot_grow() -> None:
    bound = claim("20Gi").get("PersistentVolumeClaim", "shop", "web-boot")
    unbound = {**(bound or {}), "status": {"phase": "Pending"}}
    assert list(disk_sizes.disks_to_grow(vm("40Gi"), Objects([unbound]))) == []


@pytest.mark.parametrize("objects", [Objects([]), claim(""), claim("much")])
def test_claims_of_unknown_size(objects: Objects) -> None:
    names = [disk.name for disk in disk_sizes.disks_to_grow(vm("1Gi"), objects)]
    # An unreadable size counts as none.
    assert names == (["web-boot"] if "much" in str(objects.__dict__) else [])


def test_obstacles_name_the_remedy() -> None:
    assert DISK.line == f"{PATH}: the disk web-boot has 20Gi and not the declared 40Gi"
    assert [disk_sizes.obstacle_to_growth(DISK, known) for known in (classes(True), {}, None)] == ["", "", ""]
    assert disk_sizes.obstacle_to_growth(DISK, classes(False)) == (
        "its StorageClass fast does not allow expansion; declare the size that it has, or another disk"
    )


def test_claims_never_shrink() -> None:
    (found,) = boot_source_findings(vm("20Gi"), vm("40Gi"), claim("40Gi"))
    text = f"{PATH}: the disk web-boot keeps its 40Gi, because claims never shrink"
    assert (found.line, found.missing, found.severity) == (text, False, "warning")
    # The claim has not grown, so that the declaration is right again; or nobody lowers the size.
    assert list(boot_source_findings(vm("20Gi"), vm("40Gi"), claim("20Gi"))) == []
    assert list(boot_source_findings(vm("20Gi"), vm("20Gi"), claim("40Gi"))) == []
    assert list(boot_source_findings(vm("20Gi"), None, claim("40Gi"))) == []
