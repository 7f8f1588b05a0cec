"""Machines of Proxmox, from texts of ``/etc/pve/qemu-server/ID.conf`` and from the API's dictionaries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ..._resolver.api.name_rules import quoted
from ..machine import MIB, Machine
from .reading import Reading, flag_of, text_of, whole_of

_UNITS: Final = {"K": 1 << 10, "M": MIB, "G": 1 << 30, "T": 1 << 40}
_DISK: Final = re.compile(r"(scsi|virtio|sata|ide)[0-9]+")
_NIC: Final = re.compile(r"net[0-9]+")
_DEVICE: Final = re.compile(r"hostpci[0-9]+")
_MODEL: Final = re.compile(r"(virtio|e1000e?|rtl8139|vmxnet3)=([0-9A-Fa-f:]{17})")
_PAGES: Final = {"2": "2Mi", "1024": "1Gi", "any": "2Mi"}
# The default in MiB.
_MEMORY: Final = 512


def config_of(text: str) -> dict[str, str]:
    """The current configuration of a file: what stands before the sections of snapshots and pending changes."""
    config: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("["):
            break
        key, colon, value = line.partition(":")
        if colon and not key.startswith("#"):
            config[key.strip()] = value.strip()
    return config


def add(reading: Reading, place: str, machine_id: str, config: Mapping[str, Any], power: str | None = None) -> None:
    """Adds a machine. place: the place of its configuration, for remarks. power: on, off or None."""
    name = text_of(config.get("name")) or f"vm-{machine_id}"
    if flag_of(config.get("template")):
        reading.left_out["templates"] += 1
        return
    try:
        cores = whole_of(config.get("cores") or 1, grouped=False)
        # `vcpus` is what is plugged in at the start of the most that sockets and cores make possible.
        most = whole_of(config.get("sockets") or 1, grouped=False) * cores
        vcpus = whole_of(config.get("vcpus") or most, grouped=False)
        # Newer versions write properties: `current=4096`.
        memory = whole_of(_part(config.get("memory"), "current") or _MEMORY, grouped=False)
    except ValueError as error:
        reading.refuse(place, name, str(error))
        return
    ovmf = text_of(config.get("bios")) == "ovmf"
    hotplug = text_of(config.get("hotplug")).split(",")
    machine: Machine = {
        "id": machine_id,
        "name": name,
        "folder": text_of(config.get("pool")),
        "power": power,
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
        "passthrough": [_device(text_of(value)) for key, value in sorted(config.items()) if _DEVICE.fullmatch(key)],
        "disks": _disks(reading, place, config),
        "nics": [_nic(text_of(value)) for key, value in sorted(config.items()) if _NIC.fullmatch(key)],
        "tags": {tag: "true" for tag in re.split("[;, ]+", text_of(config.get("tags"))) if tag},
    }
    reading.add(place, machine)


def _part(value: Any, name: str) -> str:
    """A property of a value such as ``local:vm-1,size=4G``; a text without `=` is that of the first property."""
    parts = text_of(value).split(",")
    found = next((part.partition("=")[2] for part in parts if part.startswith(f"{name}=")), "")
    return found or (parts[0] if "=" not in parts[0] and name == "current" else "")


def _device(value: str) -> str:
    """The mapping or the address of a device, without its options."""
    return _part(value, "mapping") or value.partition(",")[0].removeprefix("host=")


def _disks(reading: Reading, place: str, config: Mapping[str, Any]) -> list[dict[str, Any]]:
    disks = []
    for key, value in sorted(config.items()):
        match = _DISK.fullmatch(key)
        text = text_of(value)
        if not match or "media=cdrom" in text or "cloudinit" in text:
            continue
        storage, colon, _volume = text.partition(",")[0].removeprefix("file=").partition(":")
        size = _part(value, "size")
        amount = re.fullmatch(r"([0-9]+)([KMGT]?)", size)
        if not amount:
            reading.remarks.append(f"{place}, {key}: size {quoted(size)} is not known; the disk is not brought")
        disks.append(
            {
                "name": key,
                "size": int(amount[1]) * _UNITS.get(amount[2], 1) if amount else None,
                "storage": storage if colon else "",
                # The controller of SCSI disks is a setting of the machine.
                "controller": (text_of(config.get("scsihw")) or "lsi") if match[1] == "scsi" else match[1],
                "raw": text.startswith("/dev/") or None,
                "shared": _part(value, "shared") == "1" or None,
            }
        )
    return disks


def _nic(text: str) -> dict[str, Any]:
    model = _MODEL.search(text)
    bridge, tag = _part(text, "bridge"), _part(text, "tag")
    return {
        "network": f"{bridge}.{tag}" if tag else bridge,
        "mac": model[2].lower() if model else "",
        "model": model[1] if model else "",
        "connected": _part(text, "link_down") != "1",
    }
