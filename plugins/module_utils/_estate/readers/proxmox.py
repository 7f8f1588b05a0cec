"""Machines of Proxmox, from texts of ``/etc/pve/qemu-server/ID.conf`` and from the API's dictionaries."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from ..._resolver.api.name_rules import first_names, quoted
from ..machine import MIB, Machine
from . import proxmox_settings
from .reading import TPM_STATE, Reading, flag_of, text_of, whole_of, words

_UNITS: Final = {"K": 1 << 10, "M": MIB, "G": 1 << 30, "T": 1 << 40}
_DISK: Final = re.compile(r"(scsi|virtio|sata|ide)[0-9]+")
_SIZE: Final = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([KMGT]?)")
# The volume that Proxmox makes for cloud-init; a storage may have the word in its name too.
_CLOUD_INIT: Final = re.compile(r"[:/](vm-[0-9]+-)?cloudinit(\.[a-z0-9]+)?(,|$)")
_MODEL: Final = re.compile(r"([a-z][0-9a-z_-]*)=([0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5})")
_PAGES: Final = {"2": "2Mi", "1024": "1Gi", "any": "2Mi"}
# The default in MiB.
_MEMORY: Final = 512
_POWER: Final = {"running": "on", "stopped": "off", "paused": "suspended"}
# Keys of which each configuration of a machine has some.
_OWN: Final = words("bios boot cores cpu memory meta net0 numa ostype scsihw smbios1 sockets vmgenid")
_CONTAINERS: Final = "containers"


def config_of(text: str) -> dict[str, str]:
    """The current configuration of a file, with the names of its snapshots and the keys of changes that are pending."""
    config: dict[str, str] = {}
    snapshots: list[str] = []
    pending: list[str] = []
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip().strip("[]")
            if section != "PENDING" and not section.startswith("special:"):
                snapshots.append(section)
            continue
        key, colon, value = line.partition(":")
        if not colon or key.startswith("#"):
            continue
        if not section:
            config[key.strip()] = value.strip()
        elif section == "PENDING":
            pending.append(key.strip())
    told = {"[snapshots]": ", ".join(snapshots), "[pending]": ", ".join(pending)}
    return {**config, **{key: value for key, value in told.items() if value}}


def is_container(config: Mapping[str, Any]) -> bool:
    return "rootfs" in config or "swap" in config or any(key.startswith("lxc.") for key in config)


def is_config(config: Mapping[str, Any]) -> bool:
    """Whether these are the settings of a machine or a container."""
    return is_container(config) or not _OWN.isdisjoint(config)


def add(reading: Reading, place: str, machine_id: str, config: Mapping[str, Any], power: str | None = None) -> None:
    """Adds a machine. place: the place of its configuration, for remarks. power: on, off or None."""
    name = text_of(config.get("name")) or f"vm-{machine_id}"
    if is_container(config):
        leave_out_container(reading, text_of(config.get("hostname")) or machine_id)
        return
    if flag_of(config.get("template")):
        reading.left_out["templates"] += 1
        return
    try:
        cores = _figure("cores", config.get("cores") or 1)
        # Sockets and cores say how many vCPUs are possible; `vcpus` says how many of them the machine starts with.
        most = _figure("sockets", config.get("sockets") or 1) * cores
        vcpus = _figure("vcpus", config.get("vcpus") or most)
        # Newer versions write properties: `current=4096`.
        memory = _figure("memory", _part(config.get("memory"), "current") or _MEMORY)
    except ValueError as error:
        reading.refuse(place, name, str(error))
        return
    ovmf = text_of(config.get("bios")) == "ovmf"
    hotplug = text_of(config.get("hotplug")).split(",")
    lost = proxmox_settings.lost(config)
    if config.get("tpmstate0"):
        lost.append(TPM_STATE)
    machine: Machine = {
        "id": machine_id,
        "name": name,
        "folder": text_of(config.get("pool")),
        "power": "suspended" if text_of(config.get("lock")).startswith("suspend") else power,
        "vcpus": vcpus,
        "cores_per_socket": cores,
        "memory": memory * MIB,
        "firmware": "efi" if ovmf else "bios",
        "secure_boot": _part(config.get("efidisk0"), "pre-enrolled-keys") == "1" if ovmf else None,
        "tpm": bool(config.get("tpmstate0")),
        "uuid": _part(config.get("smbios1"), "uuid"),
        "guest": {"id": text_of(config.get("ostype"))},
        "reserved": {"memory": memory * MIB} if text_of(config.get("balloon")) == "0" else {},
        "hot_add": {part: True for part in ("cpu", "memory") if part in hotplug},
        "hugepages": _PAGES.get(text_of(config.get("hugepages"))),
        "passthrough": [device for key in _ordered(config) for device in _devices(key, text_of(config[key]))],
        "disks": _disks(reading, place, config),
        "nics": [_nic(text_of(config[key])) for key in _ordered(config) if proxmox_settings.kind_of(key) == "netN"],
        "tags": {tag: "true" for tag in re.split("[;, ]+", text_of(config.get("tags"))) if tag},
        "not_brought": lost,
    }
    reading.add(place, machine)


def add_listed(reading: Reading, place: str, entry: Mapping[str, Any]) -> None:
    """Adds a machine of which only the list of a cluster's or a node's machines tells."""
    own, name = text_of(entry.get("vmid")), text_of(entry.get("name")) or f"vm-{entry.get('vmid')}"
    if text_of(entry.get("type")) == "lxc":
        leave_out_container(reading, name)
        return
    if flag_of(entry.get("template")):
        reading.left_out["templates"] += 1
        return
    try:
        vcpus = _figure("maxcpu", entry.get("maxcpu") or entry.get("cpus"))
        memory = _figure("maxmem", entry.get("maxmem"))
    except ValueError as error:
        offline = ", as where its node is offline" if power_of(entry) is None else ""
        reading.refuse(place, name, f"{error}{offline}")
        return
    machine = {
        "id": own,
        "name": name,
        "folder": text_of(entry.get("pool")),
        "power": power_of(entry),
        "vcpus": vcpus,
        "memory": memory,
        "tags": {tag: "true" for tag in re.split("[;, ]+", text_of(entry.get("tags"))) if tag},
        "not_brought": ["its disks, network interfaces and devices; save the output of qm config too"],
    }
    reading.add(place, machine)


def _figure(field: str, value: Any) -> int:
    """A whole number. Raises ValueError, which names the field."""
    try:
        return whole_of(value, grouped=False)
    except ValueError as error:
        raise ValueError(f"{field} {error}") from None


def leave_out_container(reading: Reading, name: str) -> None:
    """Counts a container of LXC, which is no machine."""
    reading.left_out[_CONTAINERS] += 1
    reading.unknown[_CONTAINERS][name] = None


def tell_containers(reading: Reading) -> None:
    """Adds a remark on the containers."""
    if reading.unknown[_CONTAINERS]:
        names = first_names(reading.unknown[_CONTAINERS], 5)
        reading.remarks.append(f"containers of LXC are no machines and are not brought: {names}")


def power_of(entry: Mapping[str, Any]) -> str | None:
    """The power by what a list of machines says."""
    return _POWER.get(text_of(entry.get("qmpstatus") or entry.get("status")))


def _part(value: Any, name: str) -> str:
    """A property of a value such as ``local:vm-1,size=4G``; a text without `=` is the value of the first property."""
    properties = proxmox_settings.properties_of(text_of(value))
    return properties.get(name) or (properties.get("", "") if name == "current" else "")


def _ordered(config: Mapping[str, Any]) -> list[str]:
    """The keys, with numbers in their order: ``scsi2`` before ``scsi10``."""
    return sorted(config, key=lambda key: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", key)])


def _devices(key: str, value: str) -> list[str]:
    """The mapping or the address of a device of the host, without its options."""
    kind = proxmox_settings.kind_of(key)
    if kind not in ("hostpciN", "usbN") or value.startswith("spice"):
        return []
    own = _part(value, "mapping") or _part(value, "host") or value.partition(",")[0]
    return [own if kind == "hostpciN" else f"USB {own}"]


def _disks(reading: Reading, place: str, config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The disks; the disks that the machine boots from come first."""
    disks = []
    order = [*_part(config.get("boot"), "order").split(";"), text_of(config.get("bootdisk"))]
    for key in sorted(_ordered(config), key=lambda key: order.index(key) if key in order else len(order)):
        match = _DISK.fullmatch(key)
        text = text_of(config[key])
        if not match or "media=cdrom" in text or _CLOUD_INIT.search(text):
            continue
        storage, colon, _volume = text.partition(",")[0].removeprefix("file=").partition(":")
        size = _part(text, "size")
        amount = _SIZE.fullmatch(size)
        if not amount:
            reading.remarks.append(f"{place}, {key}: size {quoted(size)} is not known; the disk is not brought")
        disks.append(
            {
                "name": key,
                "size": math.ceil(Fraction(amount[1]) * _UNITS.get(amount[2], 1)) if amount else None,
                "storage": storage if colon else "",
                # The controller of SCSI disks is a setting of the machine.
                "controller": (text_of(config.get("scsihw")) or "lsi") if match[1] == "scsi" else match[1],
                "raw": text.startswith("/dev/") or None,
                "shared": _part(text, "shared") == "1" or None,
            }
        )
    return disks


def _nic(text: str) -> dict[str, Any]:
    model = _MODEL.search(text)
    bridge, tag = _part(text, "bridge"), _part(text, "tag")
    return {
        "network": f"{bridge}.{tag}" if tag else bridge,
        "mac": model[2].lower() if model else "",
        "model": model[1] if model and model[1] != "macaddr" else "",
        "connected": _part(text, "link_down") != "1",
    }
