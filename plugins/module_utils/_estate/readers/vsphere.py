"""Machines of vSphere, from the properties that one property collector returns for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..machine import MIB, Machine
from .reading import TPM_STATE, Reading, words

_PASSTHROUGH: Final = ("VirtualPCIPassthrough", "VirtualUSB")
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
    "config.memoryAllocation.limit",
    "config.cpuAllocation.reservation",
    "config.cpuAllocation.limit",
    "config.ftInfo",
    "guest.guestFullName",
    "runtime.powerState",
    "runtime.connectionState",
    "snapshot",
)
_POWER: Final = {"poweredOn": "on", "poweredOff": "off", "suspended": "suspended"}
_SRM: Final = "com.vmware.vcDr"
# vSphere's own machines, such as the agents of its cluster services.
_AGENT: Final = "com.vmware.vim.eam"
# Types of devices that are ignored on purpose: each VM has its own, or they hold media.
IGNORED_DEVICES: Final = words(
    "VirtualKeyboard VirtualPointingDevice VirtualMachineVMCIDevice VirtualCdrom VirtualFloppy VirtualTPM"
)


def add(reading: Reading, machine_id: str, values: Mapping[str, Any], folder: str, networks: Mapping[str, str]) -> None:
    """Adds a machine. values: its properties by path. networks: names by the reference of a network or port group."""
    name = str(values.get("name") or machine_id)
    if other := _other_than_machine(values):
        reading.left_out[other] += 1
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
    power = _POWER.get(str(values.get("runtime.powerState")))
    latency = str(values.get("config.latencySensitivity.level")) == "high"
    lost = [*_lost(values), *(line for device in devices for line in _lost_devices(device))]
    cpu = values.get("config.cpuAllocation.reservation")
    if cpu and not latency:
        lost.append(f"a reservation of {cpu} MHz, less than all its CPUs")
    machine: Machine = {
        "id": machine_id,
        "name": name,
        "folder": folder,
        "power": power,
        "vcpus": hardware.numCPU,
        "cores_per_socket": hardware.numCoresPerSocket,
        "memory": size,
        "firmware": values.get("config.firmware"),
        "secure_boot": values.get("config.bootOptions.efiSecureBootEnabled"),
        "tpm": any(_type(device) == "VirtualTPM" for device in devices),
        "uuid": values.get("config.uuid"),
        "guest": {"id": values.get("config.guestId"), "text": "\n".join(dict.fromkeys(filter(None, texts)))},
        "reserved": {
            "cpu": latency or None,
            "memory": size if locked else reserved or None,
        },
        "hot_add": {
            "cpu": values.get("config.cpuHotAddEnabled") or None,
            "memory": values.get("config.memoryHotAddEnabled") or None,
        },
        "fault_tolerance": True if values.get("config.ftInfo") else None,
        "disks": [_disk(device, controllers) for device in devices if _type(device) == "VirtualDisk"],
        "nics": [_nic(device, networks, power) for device in devices if getattr(device, "macAddress", None)],
        "passthrough": [_label(device) for device in devices if _type(device) in _PASSTHROUGH],
        "not_brought": lost,
    }
    reading.add(machine_id, machine)


def _other_than_machine(values: Mapping[str, Any]) -> str:
    """The kind of a vSphere VM that is left out, "" for a machine."""
    if values.get("config.template"):
        return "templates"
    manager = str(getattr(values.get("config.managedBy"), "extensionKey", ""))
    if manager.startswith(_SRM):
        return "placeholders"
    if manager.startswith(_AGENT):
        return "agents of vSphere"
    # The primary has the role 1.
    return "secondaries of fault tolerance" if getattr(values.get("config.ftInfo"), "role", 1) > 1 else ""


def _type(device: Any) -> str:
    """The type's name without its module: ``vim.vm.device.VirtualDisk`` → ``VirtualDisk``."""
    return type(device).__name__.rpartition(".")[2]


def _label(device: Any) -> str:
    """The vGPU profile or the device, else the label."""
    backing = getattr(device, "backing", None)
    if _type(device) == "VirtualUSB":
        return f"USB {getattr(backing, 'deviceName', None) or device.deviceInfo.label}"
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


def _lost(values: Mapping[str, Any]) -> list[str]:
    """Lines on what of a machine no VM has, besides its devices."""
    lost = []
    for what, unit, limit in (
        ("CPU", "MHz", values.get("config.cpuAllocation.limit")),
        ("memory", "MiB", values.get("config.memoryAllocation.limit")),
    ):
        if limit is not None and limit >= 0:
            lost.append(f"a limit of {limit} {unit} of {what}")
    state = str(values.get("runtime.connectionState") or "connected")
    if state != "connected":
        lost.append(f"what changed since vCenter lost it ({state})")
    return [*lost, "snapshots; the current state is what counts"] if values.get("snapshot") else lost


def _lost_devices(device: Any) -> list[str]:
    """A line on a device that no VM gets, or on what of it is lost."""
    kind = _type(device)
    if kind == "VirtualTPM":
        return [TPM_STATE]
    if kind == "VirtualMachineVideoCard":
        monitors = getattr(device, "numDisplays", None) or 1
        return [f"{monitors} monitors"] if monitors > 1 else []
    is_read = kind == "VirtualDisk" or kind in _PASSTHROUGH or getattr(device, "macAddress", None)
    if is_read or kind in IGNORED_DEVICES or kind.endswith("Controller"):
        return []
    label = getattr(getattr(device, "deviceInfo", None), "label", None)
    return [f"{label or 'device'}: a device of the type {kind.removeprefix('Virtual')}"]


def _nic(device: Any, networks: Mapping[str, str], power: str | None) -> dict[str, Any]:
    backing = device.backing
    port = getattr(getattr(backing, "port", None), "portgroupKey", None)
    name = networks.get(str(port)) if port else getattr(backing, "deviceName", None)
    state = getattr(device, "connectable", None)
    # A machine that is off is connected to nothing.
    connected = getattr(state, "connected" if power == "on" else "startConnected", None)
    model = _type(device).removeprefix("Virtual")
    return {"network": name, "mac": device.macAddress, "model": model, "connected": connected}
