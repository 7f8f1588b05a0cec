"""The sheets of RVTools, from any of its versions: columns are found by name, in any order, in old spellings too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.name_rules import quoted
from ..machine import MIB, MOST_MEMORY, MOST_VCPUS, Machine
from .reading import Reading, flag_of, text_of, whole_of

Rows = Sequence[Sequence[Any]]
Row = dict[str, Any]

INFO: Final = "vInfo"
_DETAILS: Final = ("vCPU", "vMemory", "vDisk", "vNetwork")
_HOSTS: Final = "vHost"
SHEETS: Final = (INFO, *_DETAILS, _HOSTS)

# Header → its other spellings; in lower case, MB and MiB count as the same, as does the number sign.
_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "vm": ("vm name", "name"),
    "vm id": ("vm-id", "moref"),
    "vi sdk uuid": ("vcenter uuid", "vi sdk server"),
    "vm uuid": ("uuid",),
    "powerstate": ("power state",),
    "cpus": ("cpu", "vcpus", "num cpu"),
    "memory": ("memory mib", "size mib"),
    "os according to the configuration file": ("os",),
    "cores p/s": ("cores per socket",),
    "disk": ("label",),
    "disk mode": ("mode",),
    "disk path": ("path",),
}
_GUEST: Final = ("os according to the vmware tools", "os according to the configuration file")
_REQUIRED: Final = ("vm", "cpus", "memory")
# The key of the number that programs show beside a row; headers lose this sign.
_NUMBER: Final = "#"
# The text of some cells instead of a value.
_PLACEHOLDER: Final = "VM"
_POWER: Final = {"poweredon": "on", "poweredoff": "off", "suspended": "suspended", "on": "on", "off": "off"}


def read(sheets: Mapping[str, Rows], attributes: Collection[str] = ()) -> Reading:
    """The machines. sheets: the rows of each sheet, the header first. attributes: further columns to take as tags.

    Raises FieldError for a sheet or a column without which nothing can be read.
    """
    if INFO not in sheets:
        shown = ", ".join(sorted(sheets)) or "none"
        raise FieldError(INFO, f"no such sheet among {shown}; export all sheets of RVTools")
    reading = Reading()
    info = list(_rows(INFO, sheets[INFO], attributes))
    details = {name: _by_machine(_rows(name, sheets.get(name, ()))) for name in _DETAILS}
    hosts = {text_of(row.get("host")): row for row in _rows(_HOSTS, sheets.get(_HOSTS, ()))}
    keys = Counter(map(_key, info))
    ids = Counter(own for own, _key in {(text_of(row.get("vm id")), _key(row)) for row in info})
    for row in info:
        name = text_of(row.get("vm"))
        place = f"{INFO} row {row[_NUMBER]}"
        if not name or name == _PLACEHOLDER or flag_of(row.get("srm placeholder")):
            reading.left_out["placeholders"] += 1
        elif flag_of(row.get("template")):
            reading.left_out["templates"] += 1
        elif keys[_key(row)] > 1:
            reading.refuse(place, name, "another row has the same VM ID, or no row has one and another the same name")
        else:
            found = {sheet: rows.get(_key(row), rows.get(name, [])) for sheet, rows in details.items()}
            own = text_of(row.get("vm id"))
            # The ID of vSphere, with the vCenter's before it where several have it; the name where the sheet has none.
            machine_id = own if own and ids[own] == 1 else _key(row)
            tags = {column: text_of(row.get(column.lower())) for column in attributes}
            # Without an ID, the name is one only in the file.
            source = text_of(row.get("vi sdk uuid")) if own else ""
            known = {"id": machine_id, "source": source, "name": name, "tags": tags}
            _add(reading, place, known, row, found, hosts)
    return reading


def _rows(sheet: str, rows: Rows, attributes: Collection[str] = ()) -> Iterator[Row]:
    """The cells of each row by header. Cells with a placeholder are left out."""
    if not rows:
        return
    headers = [" ".join(text_of(cell).lower().lstrip("#").replace("(mb)", "mib").split()) for cell in rows[0]]
    headers = [header.removesuffix(" mb") + " mib" if header.endswith(" mb") else header for header in headers]
    places = {header: headers.index(header) for header in headers}
    places |= {
        header: places[name]
        for header, others in _SPELLINGS.items()
        for name in (*reversed(others), header)
        if name in places
    }
    for column in attributes:
        if column.lower() not in places:
            raise FieldError(f"attributes: {sheet}", f"has no column {quoted(column)}")
    for header in _REQUIRED if sheet == INFO else ():
        if header not in places:
            raise FieldError(sheet, f"has no column {header.upper()}; its columns: {_shown(rows[0])}")
    for line, cells in enumerate(rows[1:], 2):
        row = {header: cells[place] for header, place in places.items() if place < len(cells)}
        if any(text_of(cell) for cell in row.values()):
            told = {key: cell for key, cell in row.items() if key == "vm" or text_of(cell) != _PLACEHOLDER}
            yield {**told, _NUMBER: line}


def _shown(header: Sequence[Any]) -> str:
    names = [text_of(cell) for cell in header if text_of(cell)]
    return ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")


def _key(row: Row) -> str:
    """The key that the rows of a machine share in all sheets."""
    own = text_of(row.get("vm id"))
    return f"{text_of(row.get('vi sdk uuid'))}/{own}" if own else text_of(row.get("vm"))


def _by_machine(rows: Iterator[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(_key(row), []).append(row)
    return found


def _add(
    reading: Reading, place: str, known: Machine, row: Row, own: Mapping[str, list[Row]], hosts: Mapping[str, Row]
) -> None:
    """Adds a machine. known: what of it is known already. own: its rows in other sheets."""
    figures = {}
    for field, header, most in (("cpus", "CPUs", MOST_VCPUS), ("memory", "Memory", MOST_MEMORY // MIB)):
        try:
            figures[field] = whole_of(row.get(field), grouped=field == "memory")
            if not 0 < figures[field] <= most:
                raise ValueError(f"{figures[field]} is not 1 to {most}")
        except ValueError as error:
            reading.refuse(f"{place}, column {header}", known["name"], str(error))
            return
    cpu, memory = (next(iter(own[sheet]), {}) for sheet in ("vCPU", "vMemory"))
    reserved_cpu = _optional(reading, f"{place}, vCPU", "reservation", cpu)
    reserved_memory = _optional(reading, f"{place}, vMemory", "reservation", memory) or 0
    speed = _optional(reading, f"{place}, vHost", "speed", hosts.get(text_of(row.get("host")), {}))
    size = figures["memory"] * MIB
    locked = size if flag_of(memory.get("memory reservation locked to max")) else 0
    latency = text_of(row.get("latency sensitivity")).lower() == "high"
    full = bool(reserved_cpu and speed and reserved_cpu >= figures["cpus"] * speed) or latency
    firmware = text_of(row.get("firmware")).lower()
    fault = text_of(row.get("ft state")).lower()
    texts = [text_of(row.get(header)) for header in _GUEST]
    machine: Machine = {
        **known,
        "folder": text_of(row.get("folder")),
        "power": _POWER.get(text_of(row.get("powerstate")).lower()),
        "vcpus": figures["cpus"],
        "cores_per_socket": _optional(reading, f"{place}, vCPU", "cores p/s", cpu),
        "memory": size,
        "firmware": firmware if firmware in ("bios", "efi") else None,
        "secure_boot": flag_of(row.get("efi secure boot")),
        "uuid": text_of(row.get("vm uuid")),
        "guest": {"text": "\n".join(dict.fromkeys(filter(None, texts)))},
        "reserved": {"cpu": full or None, "memory": max(locked, reserved_memory * MIB) or None},
        "hot_add": {part: True for part, item in (("cpu", cpu), ("memory", memory)) if flag_of(item.get("hot add"))},
        "fault_tolerance": True if fault not in ("", "notconfigured", "disabled", "false") else None,
        "disks": [_disk(reading, item) for item in own["vDisk"]],
        "nics": [_nic(item) for item in own["vNetwork"]],
    }
    reading.add(place, machine)


def _optional(reading: Reading, place: str, field: str, row: Mapping[str, Any]) -> int | None:
    """A whole number, if the source tells it; with a remark if it cannot be read."""
    if text_of(row.get(field)) in ("", "None"):
        return None
    try:
        return whole_of(row[field])
    except ValueError as error:
        reading.remarks.append(f"{place}, column {field}: {error}; it does not count")
        return None


def _disk(reading: Reading, row: Row) -> dict[str, Any]:
    size = _optional(reading, f"vDisk row {row[_NUMBER]}", "capacity mib", row)
    path = text_of(row.get("disk path"))
    datastore = path[1:].partition("]")[0] if path.startswith("[") else ""
    sharing = text_of(row.get("sharing mode")).lower()
    bus = text_of(row.get("shared bus")).lower()
    return {
        "name": text_of(row.get("disk")),
        "size": size * MIB if size else None,
        "storage": datastore,
        "path": path,
        "thin": flag_of(row.get("thin")),
        "mode": text_of(row.get("disk mode")),
        "controller": text_of(row.get("controller")),
        "shared": sharing == "sharingmultiwriter" or bus in ("physicalsharing", "virtualsharing") or None,
        "raw": flag_of(row.get("raw")) or None,
    }


def _nic(row: Row) -> dict[str, Any]:
    return {
        "network": text_of(row.get("network")),
        "mac": text_of(row.get("mac address")),
        "model": text_of(row.get("adapter")),
        "connected": flag_of(row.get("connected")),
    }
