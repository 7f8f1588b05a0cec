"""A reader returns machines that the proposal takes, or says what is wrong, whatever an export says."""

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest
from estate_samples import BUILTIN
from made_estate import sheets

from plugins.module_utils._estate.machine import machines_of
from plugins.module_utils._estate.readers import kubevirt, openstack, proxmox, rvtools
from plugins.module_utils._estate.readers.reading import Reading
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

CHANCE = random.Random(17)
HOSTILE = [None, "", 0, -1, 1.5, float("nan"), float("inf"), True, [], {}, "VM", "=A1", "1,5", "1e9", "١٢", "x" * 300,
           " 4 ", 10**30, "1" * 40, ["a"], {"a": 1}, "{{ x }}", "\x00", "-5", "4 GB"]  # fmt: skip
CLUSTER = Cluster(Objects(BUILTIN), KubeVirt(NEWEST))
SHEETS = {name: rows[:6] for name, rows in sheets(5).items()}
CLOUD: dict[str, Any] = {
    "servers": [
        {"ID": "s1", "Name": "web", "Status": "ACTIVE", "Image ID": "i1", "Flavor Name": "m"},
        {"id": "s2", "flavor": {"vcpus": 1, "ram": 512, "disk": 5, "extra_specs": {"resources:VGPU": "2"}},
         "addresses": {"lan": [{"addr": "a", "OS-EXT-IPS-MAC:mac_addr": "m"}]}},
    ],
    "flavors": [{"ID": "f", "Name": "m", "VCPUs": 1, "RAM": 512, "Disk": 3, "Properties": {"a": "b"}}],
    "images": [{"ID": "i1", "Name": "rhel", "Properties": "os_distro='rhel'"}],
    "volumes": [{"ID": "v", "Size": 3, "Attached to": [{"server_id": "s1", "device": "/dev/vda"}]}],
}  # fmt: skip
QEMU = {"name": "a", "cores": 2, "sockets": 1, "memory": "512", "balloon": 0, "bios": "ovmf", "scsi0": "l:v,size=3G",
        "efidisk0": "a:b,pre-enrolled-keys=1", "net0": "virtio=00:00:00:00:00:01,bridge=b", "hostpci0": "mapping=x",
        "tags": "a;b", "hotplug": "cpu", "ostype": "l26", "hugepages": "2"}  # fmt: skip
TEMPLATE = {"domain": {"devices": {"gpus": [{"name": "g", "deviceName": "d"}], "tpm": {}},
                       "firmware": {"bootloader": {"efi": {}}}, "memory": {"guest": "1Gi"}},
            "volumes": [{"name": "v", "dataVolume": {"name": "d"}}],
            "networks": [{"name": "n", "multus": {"networkName": "x"}}]}  # fmt: skip
PLAY = [{"tasks": [{"kubevirt.core.kubevirt_vm": {"name": "a", "spec": TEMPLATE, "running": False}}]}]


def changed(value: Any) -> Any:
    """The value with hostile ones in some places, and without some keys."""
    if CHANCE.random() < 0.1:
        return copy.deepcopy(CHANCE.choice(HOSTILE))
    if isinstance(value, dict):
        return {key: changed(entry) for key, entry in value.items() if CHANCE.random() > 0.05}
    return [changed(entry) for entry in value] if isinstance(value, list) else value


def of_rvtools() -> Reading:
    # A row is a list of cells in every spreadsheet.
    changes = {name: [rows[0], *(list(map(changed, row)) for row in rows[1:])] for name, rows in SHEETS.items()}
    return rvtools.read(changes)


def of_openstack() -> Reading:
    return openstack.read(**{name: [changed(entry) for entry in entries] for name, entries in CLOUD.items()})


def of_proxmox() -> Reading:
    reading = Reading()
    proxmox.add(reading, "100.conf", "100", {key: changed(value) for key, value in QEMU.items()})
    return reading


def of_kubevirt() -> Reading:
    reading = Reading()
    for vm in kubevirt.vms_in(changed(PLAY)):
        kubevirt.add(reading, "play.yml", vm, CLUSTER)
    return reading


@pytest.mark.parametrize("read", [of_rvtools, of_openstack, of_proxmox, of_kubevirt])
def test_hostile_values_are_left_out(read: Callable[[], Reading]) -> None:
    for _number in range(150):
        try:
            reading = read()
        except FieldError:
            continue
        assert len(machines_of(reading.machines)) == len(reading.machines)
        assert all(isinstance(remark, str) and remark for remark in reading.remarks)


def test_second_machine_with_an_id_is_left_out() -> None:
    reading = Reading()
    for folder in ("east", "west"):
        proxmox.add(reading, f"{folder}/100.conf", "100", QEMU)
    assert len(reading.machines) == 1
    (remark,) = reading.remarks
    problem = "id: another machine has '100' too; read each export by itself"
    assert remark == f"west/100.conf: {problem}; the machine 'a' is left out"
