"""Servers of OpenStack, as the client and the API write them."""

from typing import Any

import pytest

from plugins.module_utils._estate.machine import machines_of
from plugins.module_utils._estate.readers import openstack
from plugins.module_utils._resolver.api.errors import FieldError

GIB = 1 << 30
FLAVORS = [
    {"ID": "f1", "Name": "m1.small", "RAM": 2048, "VCPUs": 1, "Disk": 20, "Properties": {}},
    {
        "id": "f2",
        "name": "pinned",
        "ram": 4096,
        "vcpus": 4,
        "disk": 0,
        "extra_specs": {
            "hw:cpu_policy": "dedicated",
            "hw:mem_page_size": "1GB",
            "pci_passthrough:alias": "t4:1",
            "resources:VGPU": "2",
            "os:secure_boot": "required",
            "hw:tpm_version": "2.0",
        },
    },
]
IMAGES = [
    {
        "ID": "i1",
        "Name": "rhel",
        "Properties": "hw_firmware_type='uefi', os_distro='rhel', os_version='9.2', os_type='linux'",
    }
]


def test_servers_of_the_client() -> None:
    server = {
        "ID": "s1",
        "Name": "web",
        "Status": "ACTIVE",
        "Networks": {"lan": ["10.0.0.3"], "empty": []},
        "Image Name": "rhel",
        "Image ID": "i1",
        "Flavor Name": "m1.small",
        "Project ID": "p",
    }
    reading = openstack.read([server], FLAVORS, IMAGES)
    assert reading.machines == [
        {
            "id": "s1",
            "name": "web",
            "folder": "p",
            "power": "on",
            "vcpus": 1,
            "memory": 2 * GIB,
            "firmware": "efi",
            "guest": {"distro": "rhel", "version": "9.2", "id": "linux"},
            "disks": [{"name": "root", "size": 20 * GIB, "storage": "ephemeral"}],
            "nics": [{"network": "lan"}, {"network": "empty"}],
        }
    ]
    assert machines_of(reading.machines)


def test_servers_of_the_api() -> None:
    address = {"addr": "10.0.0.3", "OS-EXT-IPS-MAC:mac_addr": "fa:16:3e:00:00:01"}
    server = {
        "id": "s2",
        "name": "db",
        "status": "SHUTOFF",
        "flavor": {"id": "f2"},
        "image": {"id": "none"},
        "addresses": {"lan": [address, address]},
    }
    (item,) = openstack.read([server], FLAVORS, IMAGES).machines
    assert (item["vcpus"], item["hugepages"], item["reserved"]) == (4, "1Gi", {"cpu": True})
    assert item["passthrough"] == ["pci_passthrough:t4:1", "VGPU", "VGPU"]
    assert (item["secure_boot"], item["tpm"], item["power"]) == (True, True, "off")
    assert "disks" not in item
    assert item["nics"] == [{"network": "lan", "mac": "fa:16:3e:00:00:01"}]


def test_embedded_flavors_and_texts() -> None:
    server = {
        "Name": "old",
        "Flavor": {"vcpus": 2, "ram": 1024, "extra_specs": {}},
        "Networks": "lan=10.0.0.3; dmz=10.1.0.3",
        "Image": "i9",
        "Image Name": "Ubuntu 22.04",
    }
    (item,) = openstack.read([server], []).machines
    assert (item["id"], item["vcpus"], item["guest"]) == ("old", 2, {"text": "Ubuntu 22.04"})
    assert [nic["network"] for nic in item["nics"]] == ["lan", "dmz"]
    assert "nics" not in openstack.read([{"Name": "a", "Flavor Name": "m1.small"}], FLAVORS).machines[0]


@pytest.mark.parametrize(
    ("server", "flavors", "remark"),
    [
        ({"Name": "a", "Flavor Name": "gone"}, FLAVORS, "servers[0]: no flavor 'gone' in the list of flavors"),
        (
            {"Name": "a", "Flavor Name": "x"},
            [{"Name": "x", "RAM": 0, "VCPUs": 1}],
            f"servers[0]: memory: 0 is not 1 to {1 << 50}",
        ),
        ({"Name": "a", "Flavor Name": "x"}, [{"Name": "x", "VCPUs": 1}], "servers[0], ram of the flavor: is empty"),
        (
            {"Name": "a", "Flavor Name": "x"},
            [{"Name": "x", "VCPUs": 1, "RAM": 512, "Disk": "big"}],
            "servers[0]: a size of a disk or a number of devices: 'big' is not a whole number",
        ),
    ],
)
def test_unreadable_servers_are_left_out(server: Any, flavors: Any, remark: str) -> None:
    reading = openstack.read([server], flavors)
    assert reading.machines == [] and reading.remarks == [f"{remark}; the machine 'a' is left out"]


def test_what_is_no_list_of_objects() -> None:
    with pytest.raises(FieldError, match=r"^flavors\[0\]: expected an object, found 3$"):
        openstack.read([], [3])  # type: ignore[list-item]


def test_volumes_are_disks() -> None:
    attached = [{"server_id": "s1", "device": device} for device in ("/dev/vdb", "/dev/vda")]
    volumes = [
        {"ID": "v1", "Name": "data", "Size": 5, "Type": "ssd", "Attached to": attached[:1]},
        {"id": "v2", "name": "", "size": 10, "volume_type": "hdd", "attachments": attached[1:]},
        {"ID": "v3", "Name": "free", "Size": 1, "Attached to": []},
        {"ID": "v4", "Name": "text", "Size": 1, "Attached to": "on s1"},
    ]
    server = {"ID": "s1", "Name": "web", "Flavor Name": "m1.small", "Image Name": "N/A (booted from volume)"}
    (item,) = openstack.read([server], FLAVORS, IMAGES, volumes).machines
    assert item["disks"] == [
        {"id": "v2", "name": "v2", "size": 10 * GIB, "storage": "hdd"},
        {"id": "v1", "name": "data", "size": 5 * GIB, "storage": "ssd"},
    ]
    (item,) = openstack.read([{**server, "Image Name": "rhel"}], FLAVORS, IMAGES, volumes).machines
    assert [disk["name"] for disk in item["disks"]] == ["root", "v2", "data"]
