"""Properties of vSphere, with objects that have the names of pyvmomi's types; the simulator has the real ones."""

from types import SimpleNamespace
from typing import Any

import pytest

from plugins.module_utils._estate.machine import machines_of
from plugins.module_utils._estate.readers import vsphere
from plugins.module_utils._estate.readers.reading import TPM_STATE, Reading

GIB = 1 << 30


def of_type(name: str, **fields: Any) -> Any:
    return type(f"vim.vm.device.{name}", (SimpleNamespace,), {})(**fields)


def hardware(**fields: Any) -> dict[str, Any]:
    """The hardware of a machine, with other fields."""
    usual = {"numCPU": 2, "memoryMB": 4096, "numCoresPerSocket": None, "device": []}
    return {"config.hardware": SimpleNamespace(**{**usual, **fields})}


def added(**values: Any) -> Reading:
    reading = Reading()
    vsphere.add(reading, "vm-1", {"name": "web", **hardware(), **values}, "Shop/Test", {"dvportgroup-1": "dmz"})
    return reading


def label(text: str) -> Any:
    return SimpleNamespace(label=text)


def test_all_facts_of_a_machine() -> None:
    devices = [
        of_type("ParaVirtualSCSIController", key=1000, sharedBus="noSharing"),
        of_type("VirtualLsiLogicController", key=1001, sharedBus="physicalSharing"),
        of_type("VirtualTPM", key=2),
        of_type(
            "VirtualDisk",
            key=3,
            controllerKey=1000,
            capacityInBytes=GIB,
            deviceInfo=label("Hard disk 1"),
            backing=of_type(
                "VirtualDisk.FlatVer2BackingInfo", fileName="[gold] a.vmdk", thinProvisioned=True, diskMode="persistent"
            ),
        ),
        of_type(
            "VirtualDisk",
            key=4,
            controllerKey=1001,
            capacityInKB=1024,
            deviceInfo=label("Hard disk 2"),
            backing=of_type("VirtualDisk.RawDiskMappingVer1BackingInfo"),
        ),
        of_type(
            "VirtualDisk",
            key=5,
            controllerKey=99,
            capacityInKB=1024,
            deviceInfo=label("Hard disk 3"),
            backing=of_type("VirtualDisk.SeSparseBackingInfo", sharing="sharingMultiWriter"),
        ),
        of_type("VirtualVmxnet3", key=6, macAddress="00:01", backing=SimpleNamespace(deviceName="lan")),
        of_type(
            "VirtualE1000",
            key=7,
            macAddress="00:02",
            backing=SimpleNamespace(port=SimpleNamespace(portgroupKey="dvportgroup-1")),
        ),
        of_type("VirtualPCIPassthrough", key=8, deviceInfo=label("PCI 0"), backing=SimpleNamespace(vgpu="grid_t4")),
        of_type("VirtualPCIPassthrough", key=9, deviceInfo=label("PCI 1")),
    ]
    values = {
        "config.guestId": "rhel9_64Guest",
        "config.guestFullName": "RHEL 9",
        "guest.guestFullName": "RHEL 9",
        "config.firmware": "efi",
        "config.bootOptions.efiSecureBootEnabled": True,
        **hardware(numCoresPerSocket=1, device=devices),
        "config.cpuHotAddEnabled": True,
        "config.memoryHotAddEnabled": False,
        "config.memoryAllocation.reservation": 512,
        "config.latencySensitivity.level": "high",
        "config.ftInfo": object(),
        "config.uuid": "42",
        "runtime.powerState": "poweredOn",
    }
    (item,) = added(**values).machines
    assert item == {
        "id": "vm-1",
        "name": "web",
        "folder": "Shop/Test",
        "power": "on",
        "vcpus": 2,
        "cores_per_socket": 1,
        "memory": 4 * GIB,
        "firmware": "efi",
        "secure_boot": True,
        "tpm": True,
        "uuid": "42",
        "guest": {"id": "rhel9_64Guest", "text": "RHEL 9"},
        "reserved": {"cpu": True, "memory": GIB // 2},
        "hot_add": {"cpu": True},
        "fault_tolerance": True,
        "disks": [
            {
                "name": "Hard disk 1",
                "size": GIB,
                "storage": "gold",
                "path": "[gold] a.vmdk",
                "thin": True,
                "mode": "persistent",
                "controller": "ParaVirtualSCSIController",
            },
            {
                "name": "Hard disk 2",
                "size": 1 << 20,
                "controller": "VirtualLsiLogicController",
                "shared": True,
                "raw": True,
            },
            {"name": "Hard disk 3", "size": 1 << 20, "shared": True},
        ],
        "nics": [
            {"network": "lan", "mac": "00:01", "model": "Vmxnet3"},
            {"network": "dmz", "mac": "00:02", "model": "E1000"},
        ],
        "passthrough": ["grid_t4", "PCI 1"],
        "not_brought": [TPM_STATE],
    }
    assert machines_of([item])


def test_machines_that_are_none() -> None:
    assert added(**{"config.template": True}).left_out == {"templates": 1}
    manager = SimpleNamespace(extensionKey="com.vmware.vcDr-1")
    assert added(**{"config.managedBy": manager}).left_out == {"placeholders": 1}
    for lacking in ({"config.hardware": None}, hardware(numCPU=None), hardware(memoryMB=0)):
        reading = added(**lacking)
        assert reading.left_out == {"unreadable": 1} and "inaccessible" in reading.remarks[0]


def test_locked_memory_is_reserved() -> None:
    (item,) = added(**{"config.memoryReservationLockedToMax": True}).machines
    assert item["reserved"] == {"memory": 4 * GIB} and item["tpm"] is False


def test_machines_of_vsphere_itself() -> None:
    reading = added(**{"config.managedBy": SimpleNamespace(extensionKey="com.vmware.vim.eam")})
    assert reading.left_out == {"agents of vSphere": 1} and not reading.machines


def test_connection_of_interfaces() -> None:
    state = SimpleNamespace(connected=False, startConnected=True)
    nic = of_type("VirtualVmxnet3", key=6, macAddress="00:01", backing=SimpleNamespace(), connectable=state)
    for power, connected in (("poweredOn", False), ("poweredOff", True)):
        (item,) = added(**hardware(device=[nic]), **{"runtime.powerState": power}).machines
        assert item["nics"][0]["connected"] is connected


def test_what_no_vm_has() -> None:
    devices = [
        of_type("VirtualMachineVideoCard", key=1, numDisplays=2),
        of_type("VirtualSerialPort", key=2, deviceInfo=label("Serial port 1")),
        of_type("VirtualUSB", key=3, deviceInfo=label("USB 1")),
    ]
    values = {
        **hardware(device=devices),
        "config.cpuAllocation.limit": -1,
        "config.memoryAllocation.limit": 1024,
        "config.cpuAllocation.reservation": 500,
        "runtime.connectionState": "orphaned",
    }
    (item,) = added(**values).machines
    assert item["not_brought"] == [
        "a limit of 1024 MiB of memory",
        "what changed since vCenter lost it (orphaned)",
        "2 monitors",
        "Serial port 1: a device of the type SerialPort",
        "a reservation of 500 MHz, less than all its CPUs",
    ]
    assert item["passthrough"] == ["USB USB 1"]


@pytest.mark.parametrize(("role", "count"), [(1, 1), (2, 0)])
def test_secondaries_of_fault_tolerance_are_left_out(role: int, count: int) -> None:
    reading = added(**{"config.ftInfo": SimpleNamespace(role=role)})
    assert len(reading.machines) == count
    assert reading.left_out["secondaries of fault tolerance"] == 1 - count
