"""Configurations of Proxmox."""

from typing import Any

import pytest

from plugins.module_utils._estate.machine import machines_of
from plugins.module_utils._estate.readers import proxmox
from plugins.module_utils._estate.readers.reading import TPM_STATE, Reading

GIB = 1 << 30
TEXT = """#a comment: with a colon
agent: 1
bios: ovmf
cores: 4
sockets: 2
efidisk0: local:vm-100-disk-1,efitype=4m,pre-enrolled-keys=1,size=4M
hostpci0: 0000:01:00.0,pcie=1
hostpci1: mapping=t4
hotplug: disk,cpu,memory
hugepages: 1024
ide2: none,media=cdrom
memory: current=16384
name: db
net0: virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=20
net1: e1000=BC:24:11:00:00:02,bridge=vmbr1,link_down=1
ostype: l26
scsi0: local-lvm:vm-100-disk-0,iothread=1,size=32G
scsi1: /dev/sdb,size=1T
scsi10: local-lvm:vm-100-cloudinit,media=cdrom
scsihw: virtio-scsi-single
tags: prod;sql
tpmstate0: local:vm-100-disk-2,version=v2.0
virtio1: nfs:100/b.qcow2,shared=1,size=512
not a setting
[snapshot]
cores: 99
"""


def added(config: Any, power: str | None = None) -> Reading:
    reading = Reading()
    proxmox.add(reading, "100.conf", "100", config, power)
    return reading


def test_all_facts_of_a_configuration() -> None:
    (item,) = added(proxmox.config_of(TEXT), "on").machines
    assert item == {
        "id": "100",
        "name": "db",
        "power": "on",
        "vcpus": 8,
        "cores_per_socket": 4,
        "memory": 16 * GIB,
        "firmware": "efi",
        "secure_boot": True,
        "tpm": True,
        "guest": {"id": "l26"},
        "hot_add": {"cpu": True, "memory": True},
        "hugepages": "1Gi",
        "passthrough": ["0000:01:00.0", "t4"],
        "disks": [
            {"name": "scsi0", "size": 32 * GIB, "storage": "local-lvm", "controller": "virtio-scsi-single"},
            {"name": "scsi1", "size": 1 << 40, "controller": "virtio-scsi-single", "raw": True},
            {"name": "virtio1", "size": 512, "storage": "nfs", "controller": "virtio", "shared": True},
        ],
        "nics": [
            {"network": "vmbr0.20", "mac": "bc:24:11:00:00:01", "model": "virtio", "connected": True},
            {"network": "vmbr1", "mac": "bc:24:11:00:00:02", "model": "e1000", "connected": False},
        ],
        "tags": {"prod": "true", "sql": "true"},
        "not_brought": ["snapshots (snapshot)", TPM_STATE],
    }
    assert machines_of([item])


def test_defaults_of_proxmox() -> None:
    (item,) = added({"memory": 2048, "balloon": 0, "vcpus": 2, "cores": 4, "sata0": "a:b,size=1G"}).machines
    assert (item["name"], item["vcpus"], item["firmware"], item["tpm"]) == ("vm-100", 2, "bios", False)
    assert item["reserved"] == {"memory": 2 * GIB} and item["disks"][0]["controller"] == "sata"
    (least,) = added({"scsi0": "a:b,size=1G"}).machines
    assert (least["vcpus"], least["memory"]) == (1, GIB // 2)
    assert least["disks"][0]["controller"] == "lsi"
    assert proxmox.config_of("cores: 1\n") == {"cores": "1"}
    (bare,) = added({"net0": "bridge=vmbr0"}).machines
    assert bare["nics"] == [{"network": "vmbr0", "connected": True}]


@pytest.mark.parametrize(
    ("config", "remark"),
    [
        ({"cores": "many"}, "cores 'many' is not a whole number"),
        ({"cores": "0"}, "vcpus: 0 is not 1 to 4096"),
        ({"memory": "4G"}, "memory '4G' is not a whole number"),
    ],
)
def test_unreadable_configurations_are_left_out(config: Any, remark: str) -> None:
    reading = added({"name": "db", **config})
    assert reading.machines == [] and reading.remarks == [f"100.conf: {remark}; the machine 'db' is left out"]


def test_templates_and_disks_without_size() -> None:
    assert added({"template": 1}).left_out == {"templates": 1}
    reading = added({"scsi0": "local:vm-100-disk-0"})
    assert reading.remarks == ["100.conf, scsi0: size '' is not known; the disk is not brought"]
    assert "size" not in reading.machines[0]["disks"][0]


def test_sections_of_a_configuration() -> None:
    text = "cores: 2\n[PENDING]\ncores: 4\nnet0: a\n[special:cloudinit]\nciuser: ann\n[one]\ncores: 1\n[two]\n"
    config = proxmox.config_of(text)
    assert config == {"cores": "2", "[snapshots]": "one, two", "[pending]": "cores, net0"}
    assert added(config).machines[0]["not_brought"] == [
        "snapshots (one, two)",
        "changes that wait for a restart (cores, net0)",
    ]
    assert added({"cores": 2, "parent": "one"}).machines[0]["not_brought"] == ["snapshots (one and those before it)"]


def test_disks_in_the_order_of_booting() -> None:
    disks = dict.fromkeys(("scsi0", "scsi2", "scsi10", "virtio1"), "l:v,size=1G")
    for boot, expected in (
        ({"boot": "order=virtio1;scsi10;net0"}, ["virtio1", "scsi10", "scsi0", "scsi2"]),
        ({"boot": "cdn", "bootdisk": "scsi2"}, ["scsi2", "scsi0", "scsi10", "virtio1"]),
        ({}, ["scsi0", "scsi2", "scsi10", "virtio1"]),
    ):
        assert [disk["name"] for disk in added({**disks, **boot}).machines[0]["disks"]] == expected


def test_devices_of_the_host() -> None:
    config = {"usb0": "host=1234:5678,usb3=1", "usb1": "spice", "usb2": "mapping=dongle", "hostpci0": "host=01:00"}
    assert added(config).machines[0]["passthrough"] == ["01:00", "USB 1234:5678", "USB dongle"]


def test_containers_are_no_machines() -> None:
    reading = added({"hostname": "ct1", "rootfs": "l:v,size=8G"})
    proxmox.tell_containers(reading)
    assert (reading.machines, reading.left_out) == ([], {"containers": 1})
    assert reading.remarks == ["containers of LXC are no machines and are not brought: ct1"]
    assert added({"lock": "suspended"}).machines[0]["power"] == "suspended"


def test_machines_of_a_list() -> None:
    reading = Reading()
    entry = {"vmid": 101, "status": "running", "maxcpu": 2, "maxmem": GIB, "pool": "shop", "tags": "a;b"}
    others = ({"type": "lxc", "name": "ct"}, {"template": 1}, {"maxcpu": "many"})
    for number, changes in enumerate(({}, *others)):
        proxmox.add_listed(reading, "list.json", {**entry, "vmid": 101 + number, **changes})
    assert reading.machines == [
        {
            "id": "101",
            "name": "vm-101",
            "folder": "shop",
            "power": "on",
            "vcpus": 2,
            "memory": GIB,
            "tags": {"a": "true", "b": "true"},
            "not_brought": ["its disks, network interfaces and devices; save the output of qm config too"],
        }
    ]
    assert reading.left_out == {"containers": 1, "templates": 1, "unreadable": 1}
    assert proxmox.power_of({"status": "running", "qmpstatus": "paused"}) == "suspended"
    assert proxmox.is_config({"cores": 1}) and not proxmox.is_config({"ring0_addr": "a"})
    proxmox.tell_containers(Reading())


def test_disks_on_storages_named_after_cloud_init() -> None:
    volumes = {
        "scsi0": "cloudinit-store:vm-100-disk-1,size=1.5G",
        "ide0": "local:100/vm-100-cloudinit.qcow2,size=4M",
        "ide1": "local-lvm:vm-100-cloudinit",
        "ide2": "local:cloudinit,media=cdrom",
    }
    (item,) = added(volumes).machines
    assert [(disk["name"], disk["size"]) for disk in item["disks"]] == [("scsi0", 3 << 29)]


def test_listed_machines_of_offline_nodes() -> None:
    reading = Reading()
    proxmox.add_listed(reading, "resources.json", {"vmid": 105, "status": "unknown"})
    proxmox.add_listed(reading, "resources.json", {"vmid": 106, "status": "running", "maxcpu": 1})
    assert reading.remarks == [
        "resources.json: maxcpu is empty, as where its node is offline; the machine 'vm-105' is left out",
        "resources.json: maxmem is empty; the machine 'vm-106' is left out",
    ]
