"""Volumes and disks that virt-api lets a running VMI have."""

from typing import Any

from plugins.module_utils._resolver.kubevirt.vm.plug_admission import accepts

Manifest = dict[str, Any]


def disk(target: str = "disk", bus: str = "", **fields: Any) -> Manifest:
    return {"name": "data", target: {"bus": bus} if bus else {}, **fields}


def test_each_volume_needs_its_disk() -> None:
    root, shared, dump = {"name": "root"}, {"name": "shared"}, {"name": "dump", "memoryDump": {"claimName": "d"}}
    drive = {"name": "iso", "cdrom": {"bus": "sata"}}
    running = {"domain": {"devices": {"disks": [{"name": "root", "disk": {}}, drive], "filesystems": [shared]}}}
    disks = running["domain"]["devices"]["disks"]
    assert accepts(running, [root, shared, dump], disks)
    assert not accepts(running, [root, shared, {"name": "late"}], disks)
