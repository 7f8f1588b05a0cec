"""The settings of Proxmox that say nothing a VM needs; each other one that is not read is listed as not brought."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from ..._resolver.api.name_rules import quoted
from .reading import text_of, words

# Keys that are read, with N for a number.
USED: Final = words(
    "name template cores sockets vcpus memory balloon bios hotplug efidisk0 tpmstate0 smbios1 ostype hugepages scsihw"
    " pool tags boot bootdisk parent [snapshots] [pending] [firewall] scsiN virtioN sataN ideN netN hostpciN usbN"
    " unusedN"
)
# Keys that are ignored → the values with which they are: what preferences and the cluster decide, and what concerns
# only the host, the interface of Proxmox and media in drives.
IGNORED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("acpi", "kvm"), "1"),
    **dict.fromkeys(("cpulimit", "freeze", "tdf"), "0"),
    **dict.fromkeys(("agent", "allow-ksm", "autostart", "cdrom", "cpu", "cpuunits", "description", "digest"), ".*"),
    **dict.fromkeys(("import-working-storage", "keephugepages", "keyboard", "localtime", "lock", "machine"), ".*"),
    **dict.fromkeys(("meta", "migrate_downtime", "migrate_speed", "node", "numa", "onboot", "protection"), ".*"),
    **dict.fromkeys(("reboot", "runningcpu", "runningmachine", "runningnets-host-mtu", "shares", "skiplock"), ".*"),
    **dict.fromkeys(("smp", "snapstate", "snaptime", "spice_enhancements", "startdate", "tablet", "vga"), ".*"),
    **dict.fromkeys(("vmgenid", "vmid", "vmstate", "vmstatestorage", "status", "type"), ".*"),
    "arch": "x86_64",
    "serialN": "socket",
}
# Cloud-init has written these into the guest; some are secret.
CLOUD_INIT: Final = words("cicustom cipassword citype ciupgrade ciuser ipconfigN nameserver searchdomain sshkeys")
# The properties of disks, interfaces and the BIOS that are read or ignored in the same way.
PROPERTIES: Final[Mapping[str, frozenset[str]]] = {
    "disk": words(
        "file size media shared aio backup cache detect_zeroes discard format iothread queues replicate rerror werror"
        " scsiblock ssd cyls heads secs trans product vendor import-from"
    ),
    "netN": words(
        "bridge tag link_down firewall macaddr model queues virtio e1000 e1000e rtl8139 vmxnet3 i82551 i82557b"
        " i82559er ne2k_isa ne2k_pci pcnet e1000-82540em e1000-82544gc e1000-82545em"
    ),
    "smbios1": frozenset(("uuid", "base64")),
}
_SECTIONS: Final = {
    "[snapshots]": "snapshots",
    "[pending]": "changes that wait for a restart",
    "[firewall]": "rules of the firewall",
}
_NUMBERED: Final = re.compile(
    r"(scsi|virtio|sata|ide|net|hostpci|usb|unused|serial|parallel|ipconfig|numa|virtiofs|audio)[0-9]+"
)
_DISKS: Final = ("scsiN", "virtioN", "sataN", "ideN")


def kind_of(key: str) -> str:
    """The key with N for its number: ``net0`` → ``netN``."""
    found = _NUMBERED.fullmatch(key)
    return f"{found[1]}N" if found else key


def properties_of(value: str) -> dict[str, str]:
    """The properties of a value such as ``local:vm-1,size=4G``, and what has no name under ``""``."""
    return {name if equals else "": rest if equals else name for name, equals, rest in (
        part.partition("=") for part in value.split(",")
    )}  # fmt: skip


def lost(config: Mapping[str, Any]) -> list[str]:
    """Lines on the settings that are neither read nor ignored."""
    lines = []
    for key, value in sorted(config.items()):
        kind, text = kind_of(key), text_of(value)
        if kind in USED:
            lines += _lost_properties(key, kind, text)
        elif text and kind not in CLOUD_INIT and not re.fullmatch(IGNORED.get(kind, "(?!)"), text, re.DOTALL):
            lines.append(f"the setting {key} {quoted(text)}")
    settings = [key for key, value in sorted(config.items()) if kind_of(key) in CLOUD_INIT and text_of(value)]
    if settings:
        lines.append(f"settings of cloud-init ({', '.join(settings)})")
    for key, what in _SECTIONS.items():
        if config.get(key):
            lines.append(f"{what} ({config[key]})")
    if config.get("parent") and not config.get("[snapshots]"):
        lines.append(f"snapshots ({text_of(config['parent'])} and those before it)")
    return lines


def _lost_properties(key: str, kind: str, text: str) -> list[str]:
    """The properties of a disk, an interface or the BIOS that no VM gets."""
    known: Collection[str] | None = PROPERTIES.get("disk" if kind in _DISKS else kind)
    if known is None or "media=cdrom" in text:
        return [f"{key} ({quoted(text)}): a disk that is not attached"] if kind == "unusedN" else []
    others = [f"{name}={value}" for name, value in properties_of(text).items() if name and name not in known]
    return [f"{key}: the setting {quoted(', '.join(others))}"] if others else []
