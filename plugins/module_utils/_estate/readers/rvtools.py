"""The tabs of RVTools, from any of its versions: columns are found by name, in any order, in old spellings too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.name_rules import first_names
from ..._resolver.choose.sizes import memory_text
from ..machine import MIB, MOST_MEMORY, MOST_VCPUS, Machine
from .reading import Reading, flag_of, text_of, whole_of
from .rvtools_columns import DETAILS, HOST, INFO
from .rvtools_tabs import PLACE, PLACEHOLDER, Details, Row, Tabs, key_of, machine_rows, rows_of, source_of, tell_unknown

_GUEST: Final = ("osaccordingtothevmwaretools", "osaccordingtotheconfigurationfile")
_POWER: Final = {"poweredon": "on", "poweredoff": "off", "suspended": "suspended", "on": "on", "off": "off"}
# The machines of vSphere's cluster services, in the names of its versions.
_AGENT: Final = re.compile(r"vCLS(-[0-9a-f-]+| \([0-9]+\))?")
_NETWORKS: Final = tuple(f"network{number}" for number in range(1, 9))
# A copy that runs beside its machine, which has the number 1.
_SECONDARY: Final = re.compile("[2-9]|secondary", re.IGNORECASE)
_UNLIMITED: Final = ("", "-1", "None", "Unlimited", "unlimited")

# The rows of a machine by tab.
Own = Mapping[str, list[Row]]


def read(tabs: Tabs, attributes: Collection[str] = ()) -> Reading:
    """The machines of one export, see `read_all`."""
    return read_all({"": tabs}, attributes)


def read_all(exports: Mapping[str, Tabs], attributes: Collection[str] = ()) -> Reading:
    """The machines of all exports, by what names the export in remarks. attributes: further columns to take as tags.

    Raises FieldError for a tab or a column without which nothing can be read.
    """
    for export, tabs in exports.items():
        if INFO not in tabs:
            shown = ", ".join(sorted(tabs)) or "none"
            place = f"{export}: {INFO}" if export else INFO
            raise FieldError(place, f"no such sheet among {shown}; export all sheets of RVTools")
    reading = Reading()
    info = machine_rows(reading, exports, attributes)
    details = {tab: Details(rows_of(reading, exports, tab), info) for tab in DETAILS}
    hosts = {text_of(row.get("host")): row for row in rows_of(reading, exports, HOST)}
    keys = Counter(map(key_of, info))
    ids = Counter(own for own, _key in {(text_of(row.get("vmid")), key_of(row)) for row in info})
    without: Counter[str] = Counter()
    for row in info:
        name = text_of(row.get("vm"))
        own_rows = {tab: rows.of(row) for tab, rows in details.items()}
        if other := _other_than_machine(name, row):
            reading.left_out[other] += 1
        elif keys[key_of(row)] > 1:
            remedy = (
                "keep one export of each vCenter" if len(exports) > 1 else "export the columns VM ID and VI SDK UUID"
            )
            problem = f"another row has the same VM ID, or no row has one and another the same name; {remedy}"
            reading.refuse(row[PLACE], name, problem)
        else:
            own = text_of(row.get("vmid"))
            known = {
                # The ID of vSphere, with the vCenter's before it where several have it; else the name.
                "id": own if own and ids[own] == 1 else key_of(row),
                # Without an ID, the name is one only in the file.
                "source": source_of(row) if own else "",
                "name": name,
                "tags": {column: row[column] for column in attributes},
            }
            _add(reading, known, row, own_rows, hosts, without)
    for tab, rows in details.items():
        if rows.left:
            names = first_names(dict.fromkeys(text_of(row.get("vm")) for row in rows.left), 3)
            reading.remarks.append(f"{tab}: rows of no machine in vInfo, or of several: {len(rows.left)}, of {names}")
    _tell_missing(reading, info, without, any("vNetwork" in tabs for tabs in exports.values()))
    tell_unknown(reading, exports)
    return reading


def _other_than_machine(name: str, row: Row) -> str:
    """The kind of a row of vInfo that is left out, "" for a machine. name: the machine's."""
    if not name or name == PLACEHOLDER or flag_of(row.get("srmplaceholder")):
        return "placeholders"
    if _AGENT.fullmatch(name):
        return "agents of vSphere"
    if _SECONDARY.fullmatch(text_of(row.get("ftrole"))):
        return "secondaries of fault tolerance"
    return "templates" if flag_of(row.get("template")) else ""


def _tell_missing(reading: Reading, info: list[Row], without: Counter[str], has_networks: bool) -> None:
    """Remarks on what no tab tells of machines. has_networks: whether there is the tab vNetwork."""
    if without["disks"]:
        count = without["disks"]
        reading.remarks.append(f"vDisk: machines with disks whose sizes it does not tell: {count}; export this tab too")
    told = any(key == "nics" or key in _NETWORKS for row in info for key in row)
    if reading.machines and not told and not has_networks:
        reading.remarks.append("vNetwork: no such tab, nor a column NICs in vInfo: machines get no network interface")


def _add(reading: Reading, known: Machine, row: Row, own: Own, hosts: Mapping[str, Row], without: Counter[str]) -> None:
    """Adds a machine. known: what of it is known already. without: counts machines by what no tab tells of them."""
    figures = {}
    for field, header, most in (("cpus", "CPUs", MOST_VCPUS), ("memory", "Memory", MOST_MEMORY // MIB)):
        try:
            figures[field] = whole_of(row.get(field), grouped=field == "memory")
            if not 0 < figures[field] <= most:
                raise ValueError(f"{figures[field]} is not 1 to {most}")
        except ValueError as error:
            reading.refuse(f"{row[PLACE]}, column {header}", known["name"], str(error))
            return
    cpu, memory = (next(iter(own[tab]), {}) for tab in ("vCPU", "vMemory"))
    reserved_cpu = _optional(reading, "reservation", cpu) or 0
    reserved_memory = (_optional(reading, "reservation", memory) or 0) * MIB
    speed = _optional(reading, "speed", hosts.get(text_of(row.get("host")), {}))
    size = figures["memory"] * MIB
    locked = size if flag_of(memory.get("memoryreservationlockedtomax")) else 0
    latency = text_of(row.get("latencysensitivity")).lower() == "high"
    full = bool(speed and reserved_cpu >= figures["cpus"] * speed) or latency
    firmware = text_of(row.get("firmware")).lower()
    fault = text_of(row.get("ftstate")).lower()
    texts = [text_of(row.get(header)) for header in _GUEST]
    power = _POWER.get(text_of(row.get("powerstate")).lower().replace(" ", ""))
    lost = [*_lost(row, own), *_limits(reading, cpu, memory)]
    if reserved_cpu and not full:
        lost.append(f"a reservation of {reserved_cpu} MHz, less than all its CPUs")
    machine: Machine = {
        **known,
        "folder": text_of(row.get("folder")),
        "power": power,
        "vcpus": figures["cpus"],
        "cores_per_socket": _optional(reading, "coresps", cpu),
        "memory": size,
        "firmware": firmware if firmware in ("bios", "efi") else None,
        "secure_boot": flag_of(row.get("efisecureboot")),
        # vCenter finds machines for VDDK by the UUID of their BIOS.
        "uuid": text_of(row.get("smbiosuuid")) or text_of(row.get("vmuuid")),
        "guest": {"text": "\n".join(dict.fromkeys(filter(None, texts)))},
        "reserved": {"cpu": full or None, "memory": max(locked, reserved_memory) or None},
        "hot_add": {part: True for part, item in (("cpu", cpu), ("memory", memory)) if flag_of(item.get("hotadd"))},
        "fault_tolerance": True if fault not in ("", "notconfigured", "disabled", "false") else None,
        "disks": _disks(reading, row, own["vDisk"], lost, without),
        "nics": _nics(reading, row, own["vNetwork"], power, lost),
        "passthrough": [f"USB {text_of(item.get('devicetype')) or 'device'}" for item in own["vUSB"]],
        "not_brought": lost,
    }
    reading.add(row[PLACE], machine)


def _optional(reading: Reading, field: str, row: Row) -> int | None:
    """A whole number, if the source tells it; with a remark if it cannot be read."""
    if text_of(row.get(field)) in _UNLIMITED:
        return None
    try:
        return whole_of(row[field])
    except ValueError as error:
        reading.remarks.append(f"{row[PLACE]}, column {field}: {error}; it does not count")
        return None


def _lost(row: Row, own: Own) -> list[str]:
    """Lines on what of a machine no VM has, besides its disks and network interfaces."""
    lost = []
    monitors = text_of(row.get("nummonitors"))
    if monitors not in ("", "0", "1"):
        lost.append(f"{monitors} monitors")
    if text_of(row.get("vapp")):
        lost.append(f"its order of starting in the vApp {text_of(row['vapp'])}")
    rules = text_of(row.get("clusterrulenames")) or text_of(row.get("clusterrules"))
    if rules:
        lost.append(f"cluster rules ({rules})")
    state = text_of(row.get("connectionstate"))
    if state.lower() not in ("", "connected"):
        lost.append(f"what changed since vCenter lost it ({state})")
    if own["vSnapshot"]:
        lost.append("snapshots; the current state is what counts")
    return lost


def _limits(reading: Reading, cpu: Row, memory: Row) -> list[str]:
    limits = ((_optional(reading, "limit", cpu), "CPU", "MHz"), (_optional(reading, "limit", memory), "memory", "MiB"))
    return [f"a limit of {limit} {unit} of {what}" for limit, what, unit in limits if limit is not None]


def _disks(reading: Reading, row: Row, rows: list[Row], lost: list[str], without: Counter[str]) -> list[dict[str, Any]]:
    """The disks of vDisk. vInfo alone tells the size of a disk only if it is the only one."""
    disks = [_disk(reading, item, lost) for item in rows]
    count = _optional(reading, "disks", row)
    total = _optional(reading, "totaldiskcapacity", row)
    if count == 1 and total and not rows:
        return [{"name": "Hard disk 1", "size": total * MIB}]
    provisioned = total or _optional(reading, "provisioned", row)
    missing = (1 if provisioned else 0) if count is None and not rows else (count or 0) - len(rows)
    if missing > 0:
        without["disks"] += 1
        number = "its disks" if count is None else f"{missing} of its {count} disks"
        size = f", {memory_text(provisioned * MIB)} in sum" if provisioned and not rows else ""
        lost.append(f"{number}{size}: the tab vDisk, which has their sizes, has no row of them")
    return disks


def _disk(reading: Reading, row: Row, lost: list[str]) -> dict[str, Any]:
    size = _optional(reading, "capacity", row)
    path = text_of(row.get("diskpath"))
    datastore = path[1:].partition("]")[0] if path.startswith("[") else ""
    sharing = text_of(row.get("sharingmode")).lower()
    bus = text_of(row.get("sharedbus")).lower()
    name = text_of(row.get("disk"))
    for field in ("limit", "reservation"):
        bound = _optional(reading, field, row)
        if bound:
            lost.append(f"{name or 'disk'}: a {field} of {bound} I/O operations per second")
    return {
        "name": name,
        "size": size * MIB if size else None,
        "storage": datastore,
        "path": path,
        "thin": flag_of(row.get("thin")),
        "mode": text_of(row.get("diskmode")),
        "controller": text_of(row.get("controller")),
        "shared": sharing == "sharingmultiwriter" or bus in ("physicalsharing", "virtualsharing") or None,
        "raw": flag_of(row.get("raw")) or None,
    }


def _nics(reading: Reading, row: Row, rows: list[Row], power: str | None, lost: list[str]) -> list[dict[str, Any]]:
    """The interfaces of vNetwork, or the networks and the number of interfaces of vInfo."""
    count = _optional(reading, "nics", row) or 0
    if not rows:
        names = [text_of(row[key]) for key in _NETWORKS if text_of(row.get(key))]
        return [{"network": name} for name in names] + [{"network": ""} for _number in range(len(names), count)]
    if count > len(rows):
        lost.append(f"{count - len(rows)} of its {count} network interfaces: vNetwork has no row of them")
    for number, item in enumerate(rows, 1):
        if flag_of(item.get("directpathio")):
            lost.append(f"network interface {number}: direct path I/O")
    return [_nic(item, power) for item in rows]


def _nic(row: Row, power: str | None) -> dict[str, Any]:
    # A machine that is off is connected to nothing.
    told = [row.get("connected") if power == "on" else None, row.get("startsconnected")]
    return {
        "network": text_of(row.get("network")),
        "mac": text_of(row.get("macaddress")),
        "model": text_of(row.get("adapter")),
        "connected": next((flag for flag in map(flag_of, told) if flag is not None), None),
    }
