"""Which volumes and disks virt-api lets a running VMI have."""

from typing import Any

import pytest

from plugins.module_utils._resolver.kubevirt.vmi.plug_admission import accepts

Manifest = dict[str, Any]


def disk(target: str = "disk", bus: str = "", **fields: Any) -> Manifest:
    return {"name": "data", target: {"bus": bus} if bus else {}, **fields}


@pytest.mark.parametrize(
    ("new", "accepted"),
    [
        (disk(bus="scsi"), True),
        (disk(bus="virtio"), True),
        (disk(bus="virtio", dedicatedIOThread=True), True),
        (disk("lun", "scsi"), True),
        (disk(), False),
        (disk(bus="sata"), False),
        (disk(bus="scsi", dedicatedIOThread=True), False),
        (disk("lun", "virtio"), False),
        (disk("cdrom", "scsi"), False),
        ({"name": "data"}, False),
    ],
)
def test_new_disk_of_a_running_guest(new: Manifest, accepted: bool) -> None:
    running: Manifest = {"domain": {"devices": {}}}
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data", "hotpluggable": True}}]
    assert accepts(running, volumes, [new]) is accepted
    # What the guest has since its start may have any bus.
    assert accepts({"domain": {"devices": {"disks": [new]}}}, volumes, [new])


def test_each_volume_needs_its_disk() -> None:
    root, shared, dump = {"name": "root"}, {"name": "shared"}, {"name": "dump", "memoryDump": {"claimName": "d"}}
    drive = {"name": "iso", "cdrom": {"bus": "sata"}}
    running = {"domain": {"devices": {"disks": [{"name": "root", "disk": {}}, drive], "filesystems": [shared]}}}
    disks = running["domain"]["devices"]["disks"]
    assert accepts(running, [root, shared, dump], disks)
    assert not accepts(running, [root, shared, {"name": "late"}], disks)
