"""A made estate: a few hundred machines of a company that never was, as sheets of RVTools, and spreadsheets of rows."""

import csv
import random
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

Sheets = Mapping[str, Sequence[Sequence[Any]]]

_CONTENT = """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"""
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

# System by VMware Tools, by the configuration, firmware, vCPUs and GiB of memory to choose from.
_SYSTEMS = (
    ("Microsoft Windows Server 2019 (64-bit)", "efi", (2, 4, 8), (6, 8, 12, 16)),
    ("Microsoft Windows Server 2022 (64-bit)", "efi", (4, 8), (8, 16, 24)),
    ("Red Hat Enterprise Linux 9 (64-bit)", "efi", (2, 4, 6), (4, 8, 12)),
    ("CentOS 7 (64-bit)", "bios", (1, 2, 4), (2, 3, 4, 8)),
    ("Ubuntu Linux (64-bit)", "bios", (1, 2, 4), (2, 4, 6)),
    ("Oracle Linux 8 (64-bit)", "bios", (8, 16), (64, 96, 128)),
    ("SUSE Linux Enterprise 15 (64-bit)", "efi", (4, 8, 13), (32, 48, 64)),
    ("Other (64-bit)", "bios", (1, 2), (1, 2)),
)
_FOLDERS = ("Finance", "Logistics", "Shop/Production", "Shop/Test", "Office")


def sheets(machines: int = 240, seed: int = 7) -> dict[str, list[list[Any]]]:
    """The sheets with headers of RVTools 4, the same for the same seed."""
    chance = random.Random(seed)
    info: list[list[Any]] = [
        [
            "VM", "Powerstate", "Template", "SRM Placeholder", "CPUs", "Memory", "Folder", "Firmware",
            "EFI Secure boot", "OS according to the configuration file", "OS according to the VMware Tools",
            "FT State", "VM ID", "VM UUID", "VI SDK UUID",
        ]
    ]  # fmt: skip
    cpu: list[list[Any]] = [["VM", "CPUs", "Sockets", "Cores p/s", "Hot Add", "VM ID", "VI SDK UUID"]]
    disk: list[list[Any]] = [
        ["VM", "Disk", "Disk Path", "Capacity MiB", "Raw", "Disk Mode", "Sharing mode", "Thin", "Controller", "VM ID",
         "VI SDK UUID"]
    ]  # fmt: skip
    network: list[list[Any]] = [["VM", "NIC label", "Network", "Mac Address", "Connected", "VM ID", "VI SDK UUID"]]
    for number in range(machines):
        system, firmware, vcpus, memory = chance.choice(_SYSTEMS)
        folder = chance.choice(_FOLDERS)
        name = f"{folder.partition('/')[0].upper()}-{system.split()[0]}{number:03}"
        key = f"vm-{1000 + number}"
        cpus = chance.choice(vcpus)
        gib = chance.choice(memory)
        odd = 321 if number % 40 == 0 else 0
        info.append(
            [name, "poweredOn" if number % 9 else "poweredOff", number % 60 == 59, False, cpus, gib * 1024 + odd,
             folder, firmware, firmware == "efi" and system.startswith("Microsoft"), system, system, "notConfigured",
             key, f"4211{number:04}-0000-0000-0000-000000000000", "vc-1"]
        )  # fmt: skip
        cpu.append([name, cpus, cpus, 1, number % 3 == 0, key, "vc-1"])
        datastore = chance.choice(("gold-01", "gold-02", "silver"))
        mode = "independent_persistent" if number % 70 == 5 else "persistent"
        disk.append(
            [name, "Hard disk 1", f"[{datastore}] {name}/{name}.vmdk", 40960, number % 90 == 7, mode, "sharingNone",
             True, "VMware paravirtual SCSI", key, "vc-1"]
        )  # fmt: skip
        port = chance.choice(("VM Network", "dmz", "backup"))
        mac = f"00:50:56:00:{number // 256:02x}:{number % 256:02x}"
        network.append([name, "Network adapter 1", port, mac, True, key, "vc-1"])
    return {"vInfo": info, "vCPU": cpu, "vDisk": disk, "vNetwork": network}


def write_csv(
    folder: Path, content: Sheets, delimiter: str = ",", encoding: str = "utf-8-sig", line_end: str = "\r\n"
) -> None:
    """One file for each sheet, with the names that RVTools gives them."""
    for name, rows in content.items():
        with (folder / f"RVTools_tab{name}.csv").open("w", encoding=encoding, newline="") as file:
            csv.writer(file, delimiter=delimiter, lineterminator=line_end).writerows(rows)


def write_xlsx(file: Path, content: Sheets) -> None:
    """A spreadsheet with the cells as numbers, booleans and texts. A text that begins with `=` is a formula."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        parts = list(enumerate(content, 1))
        archive.writestr("[Content_Types].xml", _CONTENT)
        archive.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        listed = "".join(
            f'<sheet name="{escape(name)}" sheetId="{number}" r:id="r{number}"/>' for number, name in parts
        )
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets>{listed}</sheets></workbook>'
        )
        places = [("worksheet", f"worksheets/sheet{number}.xml") for number, _name in parts]
        archive.writestr("xl/_rels/workbook.xml.rels", _relations(places))
        for (_number, name), (_kind, place) in zip(parts, places, strict=True):
            rows = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in content[name])
            archive.writestr(f"xl/{place}", f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>')


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    entries = "".join(
        f'<Relationship Id="r{number}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}">{entries}</Relationships>'


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, (int, float)):
        return f"<c><v>{value}</v></c>"
    if isinstance(value, str) and value.startswith("="):
        return f"<c><f>{escape(value[1:])}</f></c>"
    return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>' if value not in (None, "") else "<c/>"
