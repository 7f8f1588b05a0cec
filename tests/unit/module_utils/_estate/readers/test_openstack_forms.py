"""The forms in which OpenStack's clients and APIs write the same of servers."""

from typing import Any

import pytest

from plugins.module_utils._estate.readers import openstack
from plugins.module_utils._estate.readers.reading import TPM_STATE

GIB = 1 << 30
MIB = 1 << 20
FLAVORS = [{"ID": "4", "Name": "large", "RAM": 1024, "VCPUs": 4, "Disk": 8, "Ephemeral": 2, "Swap": 512}]
SERVER = {"ID": "s1", "Name": "web", "Flavor": "large", "Networks": {}}


def machine(server: Any = (), flavors: Any = None, images: Any = (), volumes: Any = ()) -> dict[str, Any]:
    reading = openstack.read([{**SERVER, **dict(server)}], FLAVORS if flavors is None else flavors, images, volumes)
    assert reading.machines, reading.remarks
    return reading.machines[0]


@pytest.mark.parametrize(
    "flavor",
    [
        "large",
        "4",
        "large (4)",
        {"id": "4"},
        {"original_name": "large"},
        {"name": "large"},
        {"vcpus": 4, "ram": 1024, "disk": 8, "original_name": "gone"},
        "disk='8', ephemeral='2', , id='gone', original_name='gone', ram='1024', swap='512', vcpus='4'",
    ],
)
def test_flavors(flavor: Any) -> None:
    item = machine({"Flavor": flavor})
    assert (item["vcpus"], item["memory"]) == (4, GIB)


def test_specs_in_the_text_of_a_flavor() -> None:
    item = machine({"Flavor": "extra_specs.hw:cpu_policy='dedicated', ram='1024', vcpus='4'"})
    assert item["reserved"] == {"cpu": True}


def test_missing_flavors_have_the_names_of_servers() -> None:
    reading = openstack.read([{**SERVER, "Flavor": ""}], FLAVORS)
    assert reading.remarks[0].startswith("servers[0]: names no flavor; save openstack server list --long -f json; ")
    for flavor, shown in (("gone (9)", "gone (9)"), ({"id": "9"}, "9")):
        reading = openstack.read([{**SERVER, "Flavor": flavor}], FLAVORS)
        assert reading.remarks == [
            f"servers[0]: no flavor {shown!r} in the list of flavors; the machine 'web' is left out"
        ]


def sizes(item: dict[str, Any]) -> list[tuple[str, int]]:
    return [(disk["name"], disk["size"]) for disk in item["disks"]]


def test_disks_of_a_flavor() -> None:
    local = [("ephemeral", 2 * GIB), ("swap", 512 * MIB)]
    attached = [{"server_id": "s1", "device": "/dev/vda"}]
    volume = {"ID": "v1", "Name": "boot", "Size": 30, "Attached to": attached}
    assert sizes(machine({"Image Name": "rhel"})) == [("root", 8 * GIB), *local]
    assert sizes(machine({"Image Name": "rhel"}, volumes=[volume])) == [("root", 8 * GIB), *local, ("boot", 30 * GIB)]
    for image in ({"Image Name": "N/A (booted from volume)"}, {"image": ""}, {"Image": None}):
        assert sizes(machine(image, volumes=[volume])) == [("boot", 30 * GIB), *local]
        assert sizes(machine(image)) == local
        assert machine(image)["not_brought"] == [
            "its volumes, from which it boots; save openstack volume list --long -f json too"
        ]


def test_root_disk_without_a_size() -> None:
    flavors = [{"ID": "4", "Name": "large", "RAM": 1024, "VCPUs": 4, "Disk": 0}]
    item = machine({"Image Name": "rhel"}, flavors)
    assert item["not_brought"] == ["root: a disk whose size the image decides, because the flavor has none"]


def test_volumes_that_the_list_lacks() -> None:
    for value in ([{"id": "v8"}, {"id": "v9"}], "delete_on_termination='False', id='v8'\nid='v9'", ["v8", "v9"]):
        item = machine({"Image Name": "rhel", "volumes_attached": value})
        assert item["not_brought"] == ["volumes that are not in the list (v8, v9)"]


@pytest.mark.parametrize(
    "places",
    [
        [{"server_id": "s1", "device": "/dev/vda"}],
        "Attached to s1 on /dev/vda ",
        "[{'server_id': 's1', 'attachment_id': 'a'}]",
    ],
)
def test_attachments_of_volumes(places: Any) -> None:
    volumes = [{"ID": "v1", "Name": "", "Size": 1, "Attached to": places}, {"ID": "v2", "Size": 2, "Attached to": ""}]
    assert sizes(machine({"Image": ""}, volumes=volumes))[0] == ("v1", GIB)
    reading = openstack.read([SERVER], FLAVORS, (), volumes)
    assert reading.remarks == ["volumes: 1 are attached to no server and are not brought: v2"]


def test_volumes_of_several_servers_are_shared() -> None:
    volume = {"ID": "v1", "Size": 1, "encrypted": True, "attachments": [{"server_id": "s1"}, {"server_id": "s2"}]}
    item = machine({"Image": ""}, volumes=[volume])
    assert item["disks"][0]["shared"] is True and item["not_brought"] == ["v1: its encryption"]


def test_volumes_keep_what_their_image_said() -> None:
    kept = {"os_distro": "rhel", "os_version": "9.2", "hw_firmware_type": "uefi", "image_name": "rhel-9"}
    volume = {"ID": "v1", "Size": 1, "Attached to": [{"server_id": "s1"}], "volume_image_metadata": kept}
    item = machine({"Image": ""}, volumes=[{"ID": "v0", "Size": 1, "Attached to": [{"server_id": "s1"}]}, volume])
    assert item["guest"] == {"distro": "rhel", "version": "9.2"} and item["firmware"] == "efi"
    volume["volume_image_metadata"] = {"image_name": "rhel-9"}
    assert machine({"Image": ""}, volumes=[volume])["guest"] == {"text": "rhel-9"}


def test_images_by_name_and_id() -> None:
    images = [{"ID": "i1", "Name": "rhel", "Properties": {"os_distro": "rhel"}}]
    for image in ("rhel (i1)", {"id": "i1"}, "i1", "rhel"):
        assert machine({"Image": image}, images=images)["guest"] == {"distro": "rhel"}
    assert machine({"Image": "gone (i9)"})["guest"] == {"text": "gone"}


@pytest.mark.parametrize(
    ("status", "power", "lost"),
    [
        ("ACTIVE", "on", []),
        ("PAUSED", "suspended", []),
        ("SHELVED_OFFLOADED", "off", ["the content of its disk, which is shelved as an image"]),
        ("ERROR", None, ["its state ERROR"]),
        ("RESCUE", None, ["its state RESCUE"]),
    ],
)
def test_states_of_servers(status: str, power: str | None, lost: list[str]) -> None:
    item = machine({"Status": status})
    assert (item.get("power"), item.get("not_brought", [])) == (power, lost)


def test_deleted_servers_are_no_machines() -> None:
    reading = openstack.read([{**SERVER, "Status": "SOFT_DELETED"}], FLAVORS)
    assert (reading.machines, reading.left_out) == ([], {"deleted": 1})


def test_floating_addresses_and_groups() -> None:
    own, floating = (
        {"addr": text, "OS-EXT-IPS:type": kind} for text, kind in (("10.0.0.3", "fixed"), ("192.0.2.7", "floating"))
    )
    for groups in ([{"name": "web"}, {"name": "web"}], "name='web'", ["web"]):
        item = machine({"Networks": {}, "addresses": {"lan": [own, floating]}, "Security Groups": groups})
        assert item["nics"] == [{"network": "lan"}]
        assert item["not_brought"] == ["security groups (web)", "floating address 192.0.2.7"]


def test_properties_of_images_count_like_specs() -> None:
    properties = {"hw_cpu_policy": "dedicated", "hw_mem_page_size": "4MB", "hw_tpm_version": "2.0", "hw_pmu": "false"}
    images = [{"ID": "i1", "Name": "rhel", "Properties": properties}]
    item = machine({"Image Name": "rhel"}, images=images)
    assert item["reserved"] == {"cpu": True} and item["tpm"] is True
    assert item["not_brought"] == ["the property hw_pmu=false of the image", TPM_STATE, "memory pages of 4mb"]
