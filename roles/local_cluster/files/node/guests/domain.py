"""Turns the domain that KubeVirt makes of a VMI into the arguments of QEMU. It does what libvirt does on a node.

Paths are relative to the folder of the guest, because the path of a socket has at most 107 characters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree import ElementTree

Device = dict[str, Any]

CONSOLE: Final = "console.sock"
CONSOLE_LOG: Final = "console.log"
MONITOR: Final = "qmp.sock"
AGENT: Final = "agent.sock"
VARIABLES: Final = "efi-variables.fd"
FREE_PORTS: Final = 8
"""How many disks and interfaces can be plugged into a running guest."""
_USER: Final = "ua-"  # libvirt's prefix of aliases that are not its own
_UNITS: Final = {"b": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_INTERFACES: Final = {"virtio": "virtio-net-pci"}
_WITHOUT_EFFECT: Final = ("channel", "console", "graphics", "serial", "sound", "redirdev", "memory", "iommu")
_DEVICES: Final = {
    "rng": [{"driver": "virtio-rng-pci"}],
    "memballoon": [{"driver": "virtio-balloon-pci"}],
    "video": [{"driver": "VGA"}],
}
_CONTROLLERS: Final = {
    "scsi": [{"driver": "virtio-scsi-pci", "id": "scsi0"}],
    "usb": [{"driver": "qemu-xhci", "id": "usb0"}],
    "virtio-serial": [],  # always there, for the agent
}


class Unsupported(Exception):
    """A VMI asks for something that this QEMU cannot give; one line says what."""


@dataclass(frozen=True)
class Drive:
    """A file behind a disk, and its format."""

    file: str
    format: str


@dataclass(frozen=True)
class Firmware:
    """Files of OVMF: the code, and the variables that each guest gets a copy of."""

    code: str
    variables: str


@dataclass(frozen=True)
class Host:
    """What the machine gives to its guests.

    accelerator: kvm, hvf or tcg. firmware: None without OVMF. secure: that which checks signatures; None without it.
    """

    accelerator: str = "tcg"
    firmware: Firmware | None = None
    secure: Firmware | None = None


@dataclass
class Arguments:
    """What QEMU is started with. Devices that are plugged later have the same form in its monitor."""

    plain: list[str] = field(default_factory=list)
    block: list[Device] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    firmware: Firmware | None = None
    forwards: str = ""
    """The network whose guest is reached from outside; "" without one."""
    interfaces: dict[str, tuple[Device, Device]] = field(default_factory=dict)
    """The network and the device of each interface, by its name."""
    free_ports: list[str] = field(default_factory=list)
    """Buses for what is plugged later."""

    def command(self, program: str) -> list[str]:
        """The whole command line."""
        block = [part for entry in self.block for part in ("-blockdev", json.dumps(entry))]
        devices = [part for entry in self.devices for part in ("-device", json.dumps(entry))]
        return [program, *self.plain, *block, *devices]


def arguments(domain: str, drives: Mapping[str, Drive], macs: Mapping[str, str], host: Host) -> Arguments:
    """The arguments for a domain in XML.

    drives: by volume; macs: by interface, for those without one of their own. Raises Unsupported.
    """
    root = ElementTree.fromstring(domain)
    made = Arguments()
    _machine(root, host, made)
    made.plain += ["-chardev", f"socket,id=monitor,path={MONITOR},server=on,wait=off", "-mon", "monitor,mode=control"]
    made.plain += ["-chardev", f"socket,id=console,path={CONSOLE},server=on,wait=off,logfile={CONSOLE_LOG}"]
    made.plain += ["-serial", "chardev:console"]
    made.plain += ["-chardev", f"socket,id=agent,path={AGENT},server=on,wait=off"]
    ports = _Ports(made)
    ports.add({"driver": "virtio-serial-pci", "id": "serial0"})
    agent = {"driver": "virtserialport", "id": "agent0", "chardev": "agent", "name": "org.qemu.guest_agent.0"}
    made.devices.append(agent)
    ordered = root.find("devices/*/boot") is not None
    for element in root.iterfind("devices/*"):
        if element.tag == "disk":
            block, device = disk(element, drives)
            made.block.append(block)
            if not ordered:
                device["bootindex"] = len(made.block)
            ports.add(device)
        elif element.tag == "interface":
            network, device = interface(element, macs)
            settings = (f"{key}={value}" for key, value in network.items() if key != "type")
            made.plain += ["-netdev", ",".join([network["type"], *settings])]
            made.forwards = made.forwards or network["id"]
            ports.add(device)
            made.interfaces[_name(element)] = network, device
        else:
            for device in _other(element):
                ports.add(device)
    made.free_ports = [ports.open() for _number in range(FREE_PORTS)]
    return made


def plugged_disk(domain: str, volume: str, drive: Drive, port: str) -> tuple[Device, Device]:
    """The block device and the device of one disk of a domain, which is plugged into a guest that runs.

    port: for a virtio disk. Raises Unsupported.
    """
    for element in ElementTree.fromstring(domain).iterfind("devices/disk"):
        if _name(element) == volume:
            block, device = disk(element, {volume: drive})
            return block, {"bus": port, **device}
    raise Unsupported(f"the domain has no disk {volume}")


def plugged_interface(domain: str, name: str, macs: Mapping[str, str], port: str) -> tuple[Device, Device]:
    """The network and the device of one interface of a domain, which is plugged into a guest that runs.

    Raises Unsupported.
    """
    for element in ElementTree.fromstring(domain).iterfind("devices/interface"):
        if _name(element) == name:
            network, device = interface(element, macs)
            return network, {**device, "bus": port}
    raise Unsupported(f"the domain has no interface {name}")


def disk(element: ElementTree.Element, drives: Mapping[str, Drive]) -> tuple[Device, Device]:
    """The block device and the device of a disk."""
    volume, target = _name(element), element.find("target")
    if target is None or volume not in drives:
        raise Unsupported(f"disk {volume} has no file")
    bus, node = target.get("bus", ""), f"disk-{target.get('dev')}"
    read_only = element.find("readonly") is not None
    drive = drives[volume]
    block: Device = {
        "driver": drive.format,
        "node-name": node,
        "read-only": read_only,
        "discard": "unmap",
        "file": {"driver": "file", "filename": drive.file},
    }
    is_cdrom = element.get("device") == "cdrom"
    drivers = {
        "virtio": "virtio-blk-pci",
        "sata": "ide-cd" if is_cdrom else "ide-hd",
        "scsi": "scsi-cd" if is_cdrom else "scsi-hd",
        "usb": "usb-storage",
    }
    if bus not in drivers:
        raise Unsupported(f"disk {volume} is on the bus {bus}")
    device: Device = {"driver": drivers[bus], "drive": node, "id": _USER + volume}
    if bus in ("sata", "scsi", "usb"):
        device["bus"] = {"sata": "sata0", "scsi": "scsi0.0", "usb": "usb0.0"}[bus]
    serial = element.findtext("serial")
    if serial:
        device["serial"] = serial
    return block, {**device, **_boot(element)}


def interface(element: ElementTree.Element, macs: Mapping[str, str]) -> tuple[Device, Device]:
    """The network and the device of an interface. Each network is one of its own, as the pod's with masquerade."""
    name = _name(element)
    model, mac = element.find("model"), element.find("mac")
    kind = (model.get("type", "") if model is not None else "").partition("-")[0]
    network = {
        "type": "user",
        "id": f"net-{name}"[:60],
        "net": "10.0.2.0/24",
        "host": "10.0.2.1",
        "dns": "10.0.2.3",
        "dhcpstart": "10.0.2.2",
    }
    address = mac.get("address") if mac is not None else macs.get(name)
    device: Device = {"driver": _INTERFACES.get(kind, kind), "netdev": network["id"], "id": _USER + name}
    if address:
        device["mac"] = address
    return network, {**device, **_boot(element)}


def _machine(root: ElementTree.Element, host: Host, made: Arguments) -> None:
    kind = root.find("os/type")
    architecture = kind.get("arch") if kind is not None else ""
    if kind is None or architecture != "x86_64":
        raise Unsupported(f"its architecture is {architecture}")
    if "q35" not in kind.get("machine", ""):
        raise Unsupported(f"its machine type is {kind.get('machine')}")
    made.firmware = _firmware(root, host)
    topology, vcpu = root.find("cpu/topology"), root.find("vcpu")
    sizes = dict(topology.items()) if topology is not None else {}
    count = (vcpu.text or "1") if vcpu is not None else "1"
    # Those that can be plugged later are listed as disabled.
    current = len(root.findall("vcpus/vcpu[@enabled='yes']")) or count
    smp = [
        str(current),
        f"maxcpus={count}",
        *(f"{name}={sizes[name]}" for name in ("sockets", "cores", "threads") if sizes),
    ]
    size, maximum = _size(root, "memory") or 2**30, _size(root, "maxMemory")
    made.plain += ["-nodefaults", "-no-user-config", "-display", "none", "-name", root.findtext("name") or "guest"]
    # Only code in system management mode may change the variables of secure boot.
    mode = ",smm=on" if made.firmware is not None and made.firmware == host.secure else ""
    made.plain += ["-machine", f"q35,accel={host.accelerator}{mode}", "-cpu", _cpu(root, host), "-smp", ",".join(smp)]
    memory = f"{size // 2**20}M" + (f",maxmem={maximum // 2**20}M" if maximum > size else "")
    made.plain += ["-m", memory, "-rtc", "base=utc", *_identity(root)]
    if made.firmware is not None:
        code = f"if=pflash,unit=0,format=raw,readonly=on,file={made.firmware.code}"
        made.plain += ["-drive", code, "-drive", f"if=pflash,unit=1,format=raw,file={VARIABLES}"]
    if mode:
        made.plain += ["-global", "driver=cfi.pflash01,property=secure,value=on"]


def _size(root: ElementTree.Element, name: str) -> int:
    """An amount of memory in bytes; 0 for none."""
    element = root.find(name)
    return 0 if element is None else int(element.text or 0) * _UNITS[element.get("unit", "KiB")]


def _firmware(root: ElementTree.Element, host: Host) -> Firmware | None:
    loader = root.find("os/loader")
    if loader is None:
        return None
    secure = loader.get("secure") == "yes"
    firmware = host.secure if secure else host.firmware
    if firmware is None:
        raise Unsupported(f"it asks for EFI{' with secure boot' * secure}, and this machine has no OVMF for it")
    return firmware


def _cpu(root: ElementTree.Element, host: Host) -> str:
    element = root.find("cpu")
    model = root.findtext("cpu/model")
    if element is not None and element.get("mode") == "custom" and model:
        return model
    # Five-level page tables, which emulation has, only make each access to memory slower.
    return "max,la57=off" if host.accelerator == "tcg" else "host"


def _identity(root: ElementTree.Element) -> list[str]:
    entries = {entry.get("name"): entry.text or "" for entry in root.iterfind("sysinfo/system/entry")}
    values = [f"{name}={entries[name]}" for name in ("uuid", "serial", "manufacturer", "product") if entries.get(name)]
    return ["-smbios", ",".join(["type=1", *values]), *(["-uuid", entries["uuid"]] if entries.get("uuid") else [])]


def _other(element: ElementTree.Element) -> list[Device]:
    """The devices of everything but disks and interfaces."""
    tag, model = element.tag, element.get("model", "")
    if tag in _WITHOUT_EFFECT or "none" in (model, element.findtext("model")):
        return []
    if tag == "controller":
        devices = _CONTROLLERS.get(element.get("type", ""))
        if devices is None:
            raise Unsupported(f"it has a controller of type {element.get('type')}")
        return [dict(device) for device in devices]
    if tag == "input":
        return [{"driver": "virtio-tablet-pci" if element.get("bus") == "virtio" else "usb-tablet"}]
    if tag == "watchdog":
        return [{"driver": model}]
    if tag not in _DEVICES:
        raise Unsupported(f"it has a device of the kind {tag}")
    return [dict(device) for device in _DEVICES[tag]]


def _name(element: ElementTree.Element) -> str:
    alias = element.find("alias")
    return (alias.get("name", "") if alias is not None else "").removeprefix(_USER)


def _boot(element: ElementTree.Element) -> Device:
    boot = element.find("boot")
    return {} if boot is None else {"bootindex": int(boot.get("order", "1"))}


class _Ports:
    """Puts each PCI device behind a port of its own, as only those can be unplugged; adds controllers first."""

    def __init__(self, made: Arguments) -> None:
        self._made = made
        self._count = 0
        self._controllers: set[str] = set()
        self._sata = 0

    def add(self, device: Device) -> None:
        bus = device.get("bus", "")
        if bus == "sata0":
            self._controller({"driver": "ahci", "id": "sata0"})
            device["bus"] = f"sata0.{self._sata}"
            self._sata += 1
        elif bus == "scsi0.0":
            self._controller({"driver": "virtio-scsi-pci", "id": "scsi0"})
        elif bus == "usb0.0" or device["driver"].startswith("usb-"):
            self._controller({"driver": "qemu-xhci", "id": "usb0"})
        elif device.get("id") in ("scsi0", "usb0"):
            self._controller(device)
            return
        elif device["driver"].endswith("-pci") or device["driver"] == "qemu-xhci":
            device["bus"] = self.open()
        self._made.devices.append(device)

    def open(self) -> str:
        """A port for one device."""
        self._count += 1
        name = f"port{self._count}"
        port = {"driver": "pcie-root-port", "id": name, "chassis": self._count, "slot": self._count}
        self._made.devices.append(port)
        return name

    def _controller(self, device: Device) -> None:
        if device["id"] not in self._controllers:
            self._controllers.add(device["id"])
            if device["driver"] != "ahci":
                device["bus"] = self.open()
            self._made.devices.append(device)
