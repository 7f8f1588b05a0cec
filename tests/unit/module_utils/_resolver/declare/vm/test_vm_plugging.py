"""Volumes of a running guest, and CD-ROM drives, in the manifest of a VM."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.declare.vm.manifest import manifest

Volume = dict[str, Any]
CLAIM = {"name": "data", "persistent_volume_claim": "c", "hotpluggable": True}


def vmi(*volumes: Volume) -> dict[str, Any]:
    spec: dict[str, Any] = manifest({"name": "a", "volumes": list(volumes)})["spec"]["template"]["spec"]
    return spec


def refused(volume: Volume) -> str:
    with pytest.raises(FieldError) as error:
        vmi(volume)
    return str(error.value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"persistent_volume_claim": "c"}, {"persistentVolumeClaim": {"claimName": "c", "hotpluggable": True}}),
        ({"data_volume": "c"}, {"dataVolume": {"name": "c", "hotpluggable": True}}),
        ({"import": {"blank": True, "size": "1Gi"}}, {"dataVolume": {"name": "a-data", "hotpluggable": True}}),
    ],
)
def test_hotpluggable_volume_has_a_disk(source: Volume, expected: Volume) -> None:
    spec = vmi({"name": "data", "hotpluggable": True, **source})
    assert spec["volumes"] == [{"name": "data", **expected}]
    assert spec["domain"]["devices"]["disks"] == [{"name": "data", "disk": {"bus": "scsi"}}]
    assert vmi({"name": "data", "hotpluggable": False, **source})["domain"]["devices"] == {}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"bus": "virtio"}, {"disk": {"bus": "virtio"}}),
        ({"device": "lun"}, {"lun": {"bus": "scsi"}}),
        ({"device": "cdrom"}, {"cdrom": {}}),
        ({"device": "cdrom", "bus": "sata"}, {"cdrom": {"bus": "sata"}}),
        ({"boot_order": 2}, {"disk": {"bus": "scsi"}, "bootOrder": 2}),
    ],
)
def test_disk_of_a_hotpluggable_volume(options: Volume, expected: Volume) -> None:
    assert vmi({**CLAIM, **options})["domain"]["devices"]["disks"] == [{"name": "data", **expected}]


@pytest.mark.parametrize(
    ("volume", "line"),
    [
        (
            {"container_disk": "a", "hotpluggable": True},
            "volumes[0].hotpluggable: only valid for persistent_volume_claim, data_volume, import, not for"
            " container_disk; remove it",
        ),
        (
            {**CLAIM, "bus": "sata"},
            "volumes[0].bus: sata cannot be plugged into a running guest; write scsi or virtio, or remove it",
        ),
        (
            {**CLAIM, "device": "lun", "bus": "virtio"},
            "volumes[0].bus: virtio cannot be plugged into a running guest; write scsi, or remove it",
        ),
        (
            {"device": "cdrom"},
            "volumes[0].name: required for an empty CD-ROM drive; the volume for it has the same name",
        ),
        ({"device": "cdrom", "name": "A"}, "volumes[0].name: 'A' must consist of "),
        ({"device": "lun", "name": "a"}, "volumes[0]: requires exactly one of "),
    ],
)
def test_volume_that_cannot_be_plugged_is_refused(volume: Volume, line: str) -> None:
    assert refused(volume).startswith(line)


def test_volume_comes_into_a_declared_drive() -> None:
    root = {"name": "root", "container_disk": "a"}
    # A playbook leaves this out when there is nothing to put in.
    drive = {"name": "iso", "device": "cdrom", "boot_order": 1, "hotpluggable": True}
    empty, loaded = vmi(root, drive), vmi(root, {**drive, "persistent_volume_claim": "c"})
    assert [volume["name"] for volume in empty["volumes"]] == ["root"]
    assert [volume["name"] for volume in loaded["volumes"]] == ["root", "iso"]
    disks = empty["domain"]["devices"]["disks"]
    assert disks == loaded["domain"]["devices"]["disks"] == [{"name": "iso", "cdrom": {}, "bootOrder": 1}]
