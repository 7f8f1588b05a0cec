"""What is told of a guest that does not exist: its operating system, its disks' targets."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from node.guests.report import Told

Manifest = dict[str, Any]

SYSTEM: Final = {
    "id": "fedora",
    "name": "Fedora Linux",
    "version": "42 (Cloud Edition)",
    "versionId": "42",
    "prettyName": "Fedora Linux 42 (Cloud Edition)",
    "kernelRelease": "6.14.0-63.fc42.x86_64",
    "kernelVersion": "#1 SMP PREEMPT_DYNAMIC",
    "machine": "x86_64",
}
AGENT_VERSION: Final = "9.2.0"
_VERSION: Final = "subresources.kubevirt.io/v1"
_NEWEST_MACHINES: Final = {"": "pc-q35-9.2", "q35": "pc-q35-9.2", "virt": "virt-9.2"}
_PREFIXES: Final = {"virtio": "vd", "sata": "sd", "scsi": "sd", "usb": "sd", "fdc": "fd"}
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def machine(spec: Manifest) -> str:
    """The machine type that the hypervisor makes of the one in the spec."""
    requested = (spec["domain"].get("machine") or {}).get("type") or ""
    return _NEWEST_MACHINES.get(requested, requested)


def targets(spec: Manifest) -> dict[str, str]:
    """The device of each disk of a VMI's spec in the guest, such as vda."""
    targets_by_disk: dict[str, str] = {}
    used: Counter[str] = Counter()
    for disk in spec["domain"].get("devices", {}).get("disks") or []:
        kind = disk.get("disk") or disk.get("cdrom") or disk.get("lun") or {}
        prefix = _PREFIXES.get(kind.get("bus") or "sata", "sd")
        targets_by_disk[disk["name"]] = prefix + _letters(used[prefix])
        used[prefix] += 1
    return targets_by_disk


def _letters(number: int) -> str:
    """a to z, then aa, ab and so on."""
    text = ""
    while number >= 0:
        text = _LETTERS[number % len(_LETTERS)] + text
        number = number // len(_LETTERS) - 1
    return text


def agent_info(vmi: Manifest, told: Told) -> Manifest:
    """What the guest agent answers to virt-api's guestosinfo."""
    return {
        "apiVersion": _VERSION,
        "kind": "VirtualMachineInstanceGuestAgentInfo",
        "guestAgentVersion": told.version,
        "hostname": told.hostname or vmi["spec"].get("hostname") or vmi["metadata"]["name"],
        "os": told.system,
        "timezone": told.timezone,
        "fsInfo": {"disks": told.filesystems},
        **({"userList": told.users} if told.users else {}),
    }


def users(_vmi: Manifest, told: Told) -> Manifest:
    """Who is logged in."""
    return _list("VirtualMachineInstanceGuestOSUserList", told.users)


def filesystems(_vmi: Manifest, told: Told) -> Manifest:
    """The filesystems that are mounted."""
    return _list("VirtualMachineInstanceFileSystemList", told.filesystems)


def _list(kind: str, items: list[Manifest]) -> Manifest:
    return {"apiVersion": _VERSION, "kind": kind, "metadata": {}, "items": items}
