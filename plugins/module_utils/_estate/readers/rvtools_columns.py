"""The tabs and columns of RVTools: how versions spell them, and what is ignored on purpose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

INFO: Final = "vInfo"
HOST: Final = "vHost"
# The tabs with rows of machines, besides vInfo.
DETAILS: Final = ("vCPU", "vMemory", "vDisk", "vNetwork", "vUSB", "vSnapshot")
# The tabs that are read.
TABS: Final = (INFO, *DETAILS, HOST)
# Contents of disks, media in drives, hosts and switches are no part of a machine.
IGNORED_TABS: Final = (
    *("vPartition", "vCD", "vFloppy", "vTools", "vSource", "vRP", "vCluster", "vHBA", "vNIC", "vSwitch", "vPort"),
    *("dvSwitch", "dvPort", "dvPortGroup", "vSC_VMK", "vDatastore", "vMultiPath", "vLicense", "vFileInfo", "vHealth"),
    "vMetaData",
)

_UNIT: Final = re.compile(r"(?<=.)([kmgt])i?b$")


def heading_of(tab: str, cell: str) -> tuple[str, str]:
    """(the key of a heading, the letter of its unit): ``Capacity MB``, ``vDiskCapacityMiB`` → ``capacity``, ``m``."""
    # In RVTools' databases, the name of a column begins with the name of its tab.
    own = re.match(rf"{tab}(?=\S\S+$)", cell, re.IGNORECASE)
    key = re.sub("[^a-z0-9%]+", "", cell[own.end() if own else 0 :].lower())
    unit = _UNIT.search(key)
    return (key[: unit.start()], unit[1]) if unit else (key, "")


def _keys(tab: str, headings: str) -> frozenset[str]:
    return frozenset(heading_of(tab, heading)[0] for heading in headings.split(";"))


# Tab, or `*` for each → heading → its other spellings, as keys.
SPELLINGS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "*": {
        "vm": ("vmname",),
        "vmid": ("moref", "objectid"),
        "visdkuuid": ("vcenteruuid",),
        "smbiosuuid": ("uuid",),
    },
    INFO: {
        "vm": ("vmname", "name"),
        "cpus": ("cpu", "vcpu", "vcpus", "numcpu", "numcpus"),
        "memory": ("size", "memorysize"),
        "disks": ("numvirtualdisks", "virtualdisks", "numdisks"),
        "nics": ("numnics",),
        "osaccordingtotheconfigurationfile": ("os", "osconfig", "guestos"),
        "provisioned": ("provisionedspace",),
        "powerstate": ("state",),
        "osaccordingtothevmwaretools": ("ostools",),
    },
    "vCPU": {"coresps": ("corespersocket",)},
    "vDisk": {"disk": ("label", "name"), "diskmode": ("mode",), "diskpath": ("path",), "capacity": ("size",)},
    "vNetwork": {"network": ("name",), "macaddress": ("mac",)},
    "vUSB": {"devicetype": ("label", "summary")},
    HOST: {"host": ("name",), "speed": ("cpumhz",)},
}

# Columns with amounts, which have a unit in the heading or in the cell.
AMOUNTS: Final = ("memory", "capacity", "totaldiskcapacity", "provisioned")

# The columns that are read, as keys.
USED: Final[Mapping[str, frozenset[str]]] = {
    "*": frozenset(("vm", "vmid", "visdkuuid", "visdkserver")),
    INFO: _keys(
        INFO,
        "Powerstate; Template; SRM Placeholder; CPUs; Memory; NICs; Disks; Total disk capacity MiB; Provisioned MiB;"
        "Network #1; Network #2; Network #3; Network #4; Network #5; Network #6; Network #7; Network #8; Num Monitors;"
        "Latency Sensitivity; Folder; vApp; FT State; FT Role; Cluster rule(s); Cluster rule name(s); Connection state;"
        "Host; EFI Secure boot; Firmware; OS according to the configuration file; OS according to the VMware Tools;"
        "SMBIOS UUID; VM UUID",
    ),
    "vCPU": _keys("vCPU", "Cores p/s; Reservation; Limit; Hot Add"),
    "vMemory": _keys("vMemory", "Memory Reservation Locked To Max; Reservation; Limit; Hot Add"),
    "vDisk": _keys(
        "vDisk",
        "Disk; Disk Path; Capacity MiB; Raw; Disk Mode; Sharing mode; Thin; Reservation; Limit; Controller; Shared Bus",
    ),
    "vNetwork": _keys("vNetwork", "Network; Mac Address; Adapter; Connected; Starts Connected; Direct Path IO"),
    "vUSB": _keys("vUSB", "Device Type"),
    "vSnapshot": frozenset(),
    HOST: _keys(HOST, "Host; Speed"),
}

# Copies of vInfo's columns, places of the source, measurements of a moment, and settings that only VMware needs.
_REPEATED: Final = (
    "Select; Upgrade; Powerstate; Template; SRM Placeholder; Annotation; Backup status; Last backup; Datacenter;"
    "Cluster; Host; Folder; Folder ID; ClusterInvariantVMMId; OS according to the configuration file;"
    "OS according to the VMware Tools; VM UUID; SMBIOS UUID; VMRef; Object ID; Instance UUID; VI SDK Server type;"
    "VI SDK API Version; Internal Sort Column; Level; Shares"
)
IGNORED: Final[Mapping[str, frozenset[str]]] = {
    INFO: _keys(
        INFO,
        "Select; Upgrade; Annotation; Backup status; Last backup; Datacenter; Cluster; Folder ID; VMRef; Instance UUID;"
        "ClusterInvariantVMMId; VI SDK Server type; VI SDK API Version; Internal Sort Column; Config status; DNS Name;"
        "Guest Host Name; Guest state; Heartbeat; Consolidation Needed; PowerOn; Boot Time;"
        "Suspended To Memory; Suspend time; Suspend Interval; Creation date; Create Date; Change Version;"
        "Overall Cpu Readiness; Active Memory; Fixed Passthru HotPlug; min Required EVC Mode Key;"
        "Op Notification Timeout; EnableUUID; disk.EnableUUID; CBT; Primary IP Address; Video Ram KiB; Resource pool;"
        "DAS protection; FT Latency; FT Bandwidth; FT Sec. Latency; Vm Failover In Progress; In Use MiB;"
        "Unshared MiB; HA Restart Priority; HA Isolation Response; HA VM Monitoring; VM monitoring; Boot Required;"
        "Boot delay; Boot retry delay; Boot retry enabled; Boot BIOS setup; Reboot PowerOff; HW version; Version;"
        "HW upgrade status; HW upgrade policy; HW target; Path; Log directory; Snapshot directory; Suspend directory;"
        "Notes; Customization Info; Guest Detailed Data",
    ),
    "vCPU": _keys(
        "vCPU",
        f"{_REPEATED}; CPUs; Sockets; Max; Max Cpu Usage; Overall; Entitlement; DRS Entitlement; Hot Remove;"
        "Numa Hotadd Exposed",
    ),
    "vMemory": _keys(
        "vMemory",
        f"{_REPEATED}; Size MiB; Overhead; Max; Max Usage; Consumed; Consumed Overhead; Private; Shared; Swapped;"
        "Ballooned; Active; Entitlement; DRS Entitlement",
    ),
    "vDisk": _keys(
        "vDisk",
        f"{_REPEATED}; Disk Key; Key; Disk UUID; Eagerly Scrub; Split; Write Through; Label; SCSI Unit #; Unit #;"
        "Raw LUN ID; Raw Comp. Mode",
    ),
    "vNetwork": _keys("vNetwork", f"{_REPEATED}; NIC label; Switch; Type; IPv4 Address; IP4 Address; IPv6 Address"),
    "vUSB": _keys(
        "vUSB",
        f"{_REPEATED}; Device Node; Connected; Family; Speed; EHCI enabled; Auto connect; Bus number; Unit number",
    ),
    "vSnapshot": _keys(
        "vSnapshot",
        f"{_REPEATED}; Name; Description; Date / time; Filename; Size MiB (vmsn); Size MiB (total); Quiesced; State",
    ),
}


def spelled(tab: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The values of keys under the names that this file gives them, whatever a version calls them."""
    result = dict(keys)
    for name, others in {**SPELLINGS["*"], **SPELLINGS.get(tab, {})}.items():
        found = next((other for other in (name, *others) if other in keys), None)
        if found is not None:
            result[name] = keys[found]
    return result


def is_known(tab: str, key: str) -> bool:
    """Whether a column is read, or ignored on purpose."""
    spellings = (SPELLINGS["*"], SPELLINGS.get(tab, {}))
    others = {other for names in spellings for spelling in names.values() for other in spelling}
    return key in USED["*"] | USED[tab] | IGNORED.get(tab, frozenset()) | others
