"""QEMU's arguments for domains that KubeVirt's converter has printed (1.9.0)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from node.guests.domain import (
    FREE_PORTS,
    VARIABLES,
    Arguments,
    Drive,
    Firmware,
    Host,
    Unsupported,
    arguments,
    plugged_disk,
    plugged_interface,
)

FEDORA = (Path(__file__).parent / "domains" / "fedora.xml").read_text()
DRIVES = {name: Drive(f"/d/{name}", "qcow2") for name in ("root", "data", "cd")} | {"ci": Drive("/d/ci", "raw")}
EMULATION = Host()
MACS = {"default": "02:00:00:00:00:01"}


def made(domain: str = FEDORA, host: Host = EMULATION) -> Arguments:
    return arguments(domain, DRIVES, MACS, host)


def option(result: Arguments, name: str) -> str:
    return result.plain[result.plain.index(name) + 1]


def device(result: Arguments, driver: str) -> dict[str, Any]:
    return next(entry for entry in result.devices if entry["driver"] == driver)


def test_machine_has_the_size_of_the_domain() -> None:
    result = made()
    assert option(result, "-m") == "256M"
    assert option(result, "-smp") == "1,maxcpus=1,sockets=1,cores=1,threads=1"
    assert option(result, "-machine") == "q35,accel=tcg" and option(result, "-cpu") == "max,la57=off"
    assert option(result, "-uuid") == "f9baadca-2329-4c94-ba6a-30865d0a681b"


def test_memory_can_grow_to_the_maximum() -> None:
    result = made(FEDORA.replace("<memory ", '<maxMemory unit="b">1073741824</maxMemory><memory ', 1))
    assert option(result, "-m") == "256M,maxmem=1024M"


def test_plugged_interface_is_behind_a_free_port() -> None:
    network, device = plugged_interface(FEDORA, "default", MACS, "port9")
    assert made().interfaces["default"][0] == network
    assert (device["bus"], device["netdev"], device["mac"]) == ("port9", network["id"], MACS["default"])
    with pytest.raises(Unsupported, match="the domain has no interface blue"):
        plugged_interface(FEDORA, "blue", MACS, "port9")


def test_cpus_that_can_be_plugged_are_left_out() -> None:
    listed = "".join(f'<vcpu id="{cpu}" enabled="{"yes" if cpu < 2 else "no"}"></vcpu>' for cpu in range(8))
    domain = FEDORA.replace('<vcpu placement="static">1</vcpu>', f"<vcpu>8</vcpu><vcpus>{listed}</vcpus>")
    result = made(domain.replace('sockets="1" cores="1"', 'sockets="8" cores="1"'))
    assert option(result, "-smp") == "2,maxcpus=8,sockets=8,cores=1,threads=1"


@pytest.mark.parametrize(
    ("accelerator", "cpu", "expected"),
    [
        ("kvm", '<cpu mode="host-model">', "host"),
        ("tcg", '<cpu mode="host-model">', "max,la57=off"),
        ("tcg", '<cpu mode="custom"><model>Nehalem</model>', "Nehalem"),
    ],
)
def test_cpu_model_follows_domain_and_accelerator(accelerator: str, cpu: str, expected: str) -> None:
    domain = FEDORA.replace('<cpu mode="host-model">', cpu)
    assert option(made(domain, Host(accelerator)), "-cpu") == expected


def test_each_disk_is_on_its_bus() -> None:
    result = made()
    assert [(entry["node-name"], entry["driver"], entry["file"]["filename"]) for entry in result.block] == [
        ("disk-vda", "qcow2", "/d/root"),
        ("disk-vdb", "raw", "/d/ci"),
        ("disk-sda", "qcow2", "/d/data"),
        ("disk-sdb", "qcow2", "/d/cd"),
    ]
    assert [entry["read-only"] for entry in result.block] == [False, False, False, True]
    scsi, cdrom = device(result, "scsi-hd"), device(result, "ide-cd")
    assert (scsi["bus"], scsi["serial"], scsi["id"]) == ("scsi0.0", "abc", "ua-data")
    assert (cdrom["bus"], cdrom["drive"]) == ("sata0.0", "disk-sdb")


def test_controllers_come_before_what_is_behind_them() -> None:
    drivers = [entry["driver"] for entry in made().devices]
    assert drivers.index("virtio-scsi-pci") < drivers.index("scsi-hd") and drivers.count("virtio-scsi-pci") == 1
    assert drivers.index("ahci") < drivers.index("ide-cd")
    assert drivers.index("virtio-serial-pci") < drivers.index("virtserialport")


def test_disks_boot_in_the_order_of_the_spec() -> None:
    disks = [entry for entry in made().devices if "drive" in entry]
    assert [entry["bootindex"] for entry in disks] == [1, 2, 3, 4]


def test_boot_order_of_the_domain_counts_alone() -> None:
    result = made(FEDORA.replace('<alias name="ua-data"></alias>', '<alias name="ua-data"></alias><boot order="1"/>'))
    assert [(entry["id"], entry["bootindex"]) for entry in result.devices if "bootindex" in entry] == [("ua-data", 1)]


def test_each_pluggable_device_has_its_own_port() -> None:
    devices = made().devices
    ports = [entry["id"] for entry in devices if entry["driver"] == "pcie-root-port"]
    taken = [entry["bus"] for entry in devices if entry.get("bus") in ports]
    assert len(taken) == len(set(taken)) and len(ports) == len(taken) + FREE_PORTS


def test_interface_is_forwarded_with_its_own_mac() -> None:
    result = made()
    assert result.forwards == "net-default" and device(result, "virtio-net-pci")["mac"] == MACS["default"]
    assert "dhcpstart=10.0.2.2" in option(result, "-netdev")
    result = made(FEDORA.replace("<source></source>\n   <model type", '<mac address="52:54:00:0a:0b:0c"/><model type'))
    assert device(result, "virtio-net-pci")["mac"] == "52:54:00:0a:0b:0c"


def test_guest_without_interface_is_not_forwarded() -> None:
    result = made(re.sub(r"<interface.*?</interface>", "", FEDORA, flags=re.DOTALL))
    assert result.forwards == "" and "-netdev" not in result.plain


def test_other_devices_are_those_of_the_domain() -> None:
    more = '<input type="tablet" bus="usb"/><watchdog model="i6300esb" action="reset"/></devices>'
    drivers = [entry["driver"] for entry in made(FEDORA.replace("</devices>", more)).devices]
    assert {"virtio-rng-pci", "virtio-balloon-pci", "VGA", "usb-tablet", "qemu-xhci", "i6300esb"} <= set(drivers)
    assert drivers.index("qemu-xhci") < drivers.index("usb-tablet")


def test_firmware_is_that_of_the_host() -> None:
    domain = FEDORA.replace("</os>", '<loader readonly="yes" secure="no" type="pflash">code</loader></os>')
    result = made(domain, Host("tcg", Firmware("/ovmf/code", "/ovmf/vars")))
    drives = [value for value in result.plain if value.startswith("if=pflash")]
    assert "file=/ovmf/code" in drives[0] and drives[1].endswith(VARIABLES)
    assert result.firmware is not None and made().firmware is None


def test_secure_boot_has_firmware_of_its_own() -> None:
    domain = FEDORA.replace("</os>", '<loader readonly="yes" secure="yes" type="pflash">code</loader></os>')
    host = Host("tcg", Firmware("/ovmf/code", "/ovmf/vars"), Firmware("/ovmf/signed", "/ovmf/keys"))
    result = made(domain, host)
    assert result.firmware == host.secure
    assert "q35,accel=tcg,smm=on" in result.plain
    assert "driver=cfi.pflash01,property=secure,value=on" in result.plain


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (
            "</os>",
            '<loader secure="yes">code</loader></os>',
            "it asks for EFI with secure boot, and this machine has no OVMF for it",
        ),
        ("</os>", "<loader>code</loader></os>", "it asks for EFI, and this machine has no OVMF for it"),
        ('arch="x86_64"', 'arch="aarch64"', "its architecture is aarch64"),
        ('machine="q35"', 'machine="pc-i440fx-9.2"', "its machine type is pc-i440fx-9.2"),
        ("</devices>", "<tpm model='tpm-crb'/></devices>", "it has a device of the kind tpm"),
        ("</devices>", "<controller type='pci'/></devices>", "it has a controller of type pci"),
        ('bus="virtio" dev="vda"', 'bus="fdc" dev="fda"', "disk root is on the bus fdc"),
        ("ua-root", "ua-other", "disk other has no file"),
    ],
)
def test_what_qemu_cannot_give_is_named(before: str, after: str, reason: str) -> None:
    with pytest.raises(Unsupported) as caught:
        made(FEDORA.replace(before, after))
    assert str(caught.value) == reason


def test_devices_are_written_as_json() -> None:
    command = made().command("qemu")
    devices = [json.loads(after) for before, after in zip(command, command[1:]) if before == "-device"]
    assert command[0] == "qemu" and devices == made().devices


@pytest.mark.parametrize(
    ("volume", "driver", "bus"), [("root", "virtio-blk-pci", "port9"), ("data", "scsi-hd", "scsi0.0")]
)
def test_plugged_disk_has_the_bus_of_the_domain(volume: str, driver: str, bus: str) -> None:
    block, plugged = plugged_disk(FEDORA, volume, Drive("/d/x", "raw"), "port9")
    assert (plugged["driver"], plugged["bus"], plugged["id"]) == (driver, bus, f"ua-{volume}")
    assert block["node-name"] == plugged["drive"] and block["file"]["filename"] == "/d/x"
    with pytest.raises(Unsupported, match="the domain has no disk other"):
        plugged_disk(FEDORA, "other", Drive("/d/x", "raw"), "port9")
