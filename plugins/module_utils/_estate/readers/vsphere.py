"""Machines of vSphere, from the properties that one property collector returns for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..machine import MIB, Machine
from .reading import Reading

# The paths of the properties that are read.
PROPERTIES: Final = (
    "name",
    "parent",
    "config.template",
    "config.managedBy",
    "config.uuid",
    "config.guestId",
    "config.guestFullName",
    "config.firmware",
    "config.bootOptions.efiSecureBootEnabled",
    "config.hardware",
    "config.cpuHotAddEnabled",
    "config.memoryHotAddEnabled",
    "config.latencySensitivity.level",
    "config.memoryReservationLockedToMax",
    "config.memoryAllocation.reservation",
    "config.ftInfo",
    "guest.guestFullName",
    "runtime.powerState",
)
_POWER: Final = {"poweredOn": "on", "poweredOff": "off", "suspended": "suspended"}
_SRM: Final = "com.vmware.vcDr"


def add(reading: Reading, machine_id: str, values: Mapping[str, Any], folder: str, networks: Mapping[str, str]) -> None:
    """Adds a machine. values: its properties by path. networks: names by the reference of a network or port group."""
    name = str(values.get("name") or machine_id)
    if values.get("config.template"):
        reading.left_out["templates"] += 1
        return
    manager = str(getattr(values.get("config.managedBy"), "extensionKey", ""))
    if manager.startswith(_SRM):
        reading.left_out["placeholders"] += 1
        return
    hardware = values.get("config.hardware")
    if not hardware or not hardware.numCPU or not hardware.memoryMB:
        reading.refuse(machine_id, name, "vCenter does not tell its CPUs and memory, as for an inaccessible machine")
        return
    devices = hardware.device or ()
    controllers = {device.key: device for device in devices}
    size = hardware.memoryMB * MIB
    reserved = (values.get("config.memoryAllocation.reservation") or 0) * MIB
    locked = values.get("config.memoryReservationLockedToMax")
    texts = [values.get("guest.guestFullName"), values.get("config.guestFullName")]
    machine: Machine = {
        "id": machine_id,
        "name": name,
        "folder": folder,
        "power": _POWER.get(str(values.get("runtime.powerState"))),
        "vcpus": hardware.numCPU,
        "cores_per_socket": hardware.numCoresPerSocket,
        "memory": size,
        "firmware": values.get("config.firmware"),
        "secure_boot": values.get("config.bootOptions.efiSecureBootEnabled"),
        "tpm": any(_type(device) == "VirtualTPM" for device in devices),
        "uuid": values.get("config.uuid"),
        "guest": {"id": values.get("config.guestId"), "text": "\n".join(dict.fromkeys(filter(None, texts)))},
        "reserved": {
            "cpu": str(values.get("config.latencySensitivity.level")) == "high" or None,
            "memory": size if locked else reserved or None,
        },
        "hot_add": {
            "cpu": values.get("config.cpuHotAddEnabled") or None,
            "memory": values.get("config.memoryHotAddEnabled") or None,
        },
        "fault_tolerance": True if values.get("config.ftInfo") else None,
        "disks": [_disk(device, controllers) for device in devices if _type(device) == "VirtualDisk"],
        "nics": [_nic(device, networks) for device in devices if getattr(device, "macAddress", None)],
        "passthrough": [_label(device) for device in devices if _type(device) == "VirtualPCIPassthrough"],
    }
    reading.add(machine_id, machine)


def _type(device: Any) -> str:
    """The type's name without that of its module: ``vim.vm.device.VirtualDisk`` → ``VirtualDisk``."""
    return type(device).__name__.rpartition(".")[2]


def _label(device: Any) -> str:
    """The vGPU profile or the device, else the label."""
    backing = getattr(device, "backing", None)
    return str(getattr(backing, "vgpu", None) or getattr(backing, "deviceName", None) or device.deviceInfo.label)


def _disk(device: Any, controllers: Mapping[int, Any]) -> dict[str, Any]:
    backing = device.backing
    path = str(getattr(backing, "fileName", "") or "")
    controller = controllers.get(device.controllerKey)
    bus = str(getattr(controller, "sharedBus", "noSharing") or "noSharing")
    return {
        "name": device.deviceInfo.label,
        "size": getattr(device, "capacityInBytes", None) or device.capacityInKB * 1024,
        "storage": path[1:].partition("]")[0] if path.startswith("[") else "",
        "path": path,
        "thin": getattr(backing, "thinProvisioned", None),
        "mode": str(getattr(backing, "diskMode", "") or ""),
        "controller": _type(controller) if controller is not None else "",
        "shared": bus != "noSharing" or getattr(backing, "sharing", None) == "sharingMultiWriter" or None,
        "raw": "RawDisk" in _type(backing) or None,
    }


def _nic(device: Any, networks: Mapping[str, str]) -> dict[str, Any]:
    backing = device.backing
    port = getattr(getattr(backing, "port", None), "portgroupKey", None)
    name = networks.get(str(port)) if port else getattr(backing, "deviceName", None)
    return {"network": name, "mac": device.macAddress, "model": _type(device).removeprefix("Virtual")}
