"""Disks and interfaces of which only vInfo tells, and tabs that lack what others have."""

import math
from typing import Any

import pytest

from plugins.module_utils._estate.readers import rvtools
from plugins.module_utils._estate.readers.rvtools_columns import heading_of

MIB = 1 << 20
GIB = 1 << 30


def read(header: list[str], *rows: list[Any], **more: Any) -> Any:
    return rvtools.read(
        {"vInfo": [["VM", "CPUs", "Memory", *header], *(["web", 1, 512, *row] for row in rows)], **more}
    )


def machine(header: list[str], row: list[Any], **more: Any) -> dict[str, Any]:
    (item,) = read(header, row, **more).machines
    return dict(item)


def test_only_disk_has_the_size_of_all() -> None:
    item = machine(["Disks", "Total disk capacity MiB"], [1, 1024])
    assert item["disks"] == [{"name": "Hard disk 1", "size": GIB}] and "not_brought" not in item


@pytest.mark.parametrize(
    ("header", "row", "line"),
    [
        (["Disks", "Total disk capacity MiB"], [3, 1024], "3 of its 3 disks, 1Gi in sum"),
        (["Disks", "Provisioned MB"], [3, "122.880"], "3 of its 3 disks, 120Gi in sum"),
        (["Disks"], [2], "2 of its 2 disks"),
        (["Provisioned MiB"], [2048], "its disks, 2Gi in sum"),
    ],
)
def test_disks_that_no_tab_has(header: list[str], row: list[Any], line: str) -> None:
    why = "the tab vDisk, which has their sizes, has no row of them"
    reading = read([*header, "NICs"], [*row, 0])
    assert reading.machines[0]["not_brought"] == [f"{line}: {why}"]
    assert reading.remarks == ["vDisk: machines with disks whose sizes it does not tell: 1; export this tab too"]


def test_machines_without_disks() -> None:
    for header, row in ((["Disks"], [0]), (["Disks", "Provisioned MiB"], [0, 100]), ([], [])):
        assert "not_brought" not in machine(header, row)


def test_rows_that_are_fewer_than_vinfo_says() -> None:
    disks = [["VM", "Disk", "Capacity MiB"], ["web", "Hard disk 1", 1]]
    nics = [["VM", "Network"], ["web", "lan"]]
    item = machine(["Disks", "NICs", "Total disk capacity MiB"], [2, 3, 9], vDisk=disks, vNetwork=nics)
    assert item["not_brought"] == [
        "1 of its 2 disks: the tab vDisk, which has their sizes, has no row of them",
        "2 of its 3 network interfaces: vNetwork has no row of them",
    ]


def test_networks_of_vinfo() -> None:
    item = machine(["NICs", "Network #1", "Network #2"], [3, "lan", "dmz"])
    assert item["nics"] == [{"network": "lan"}, {"network": "dmz"}, {}]
    assert read([], []).remarks == [
        "vNetwork: no such tab, nor a column NICs in vInfo: machines get no network interface"
    ]
    assert read(["NICs"], [0]).remarks == []


@pytest.mark.parametrize(
    ("power", "connected", "starts", "expected"),
    [
        ("poweredOn", False, True, False),
        ("poweredOn", True, False, True),
        ("poweredOn", "", False, False),
        ("poweredOff", False, True, True),
        ("poweredOff", False, "", None),
    ],
)
def test_connection_of_interfaces(power: str, connected: Any, starts: Any, expected: bool | None) -> None:
    nics = [["VM", "Network", "Connected", "Starts Connected"], ["web", "lan", connected, starts]]
    assert machine(["Powerstate"], [power], vNetwork=nics)["nics"][0].get("connected") == expected


def test_tabs_without_the_ids_of_vinfo() -> None:
    info = ["VM ID", "VI SDK UUID"]
    disk = ["web", "Hard disk 1", 1]
    for header, row in ((["VM ID"], ["vm-1"]), ([], []), (["VM ID", "VI SDK Server"], ["vm-1", "vc.example.com"])):
        tab = [["VM", "Disk", "Capacity MiB", *header], [*disk, *row]]
        assert len(machine(info, ["vm-1", "42"], vDisk=tab)["disks"]) == 1
    # The other way round: the ID of another machine, and another vCenter.
    for header, row in ((["VM ID"], ["vm-2"]), (info, ["vm-1", "43"])):
        tab = [["VM", "Disk", "Capacity MiB", *header], [*disk, *row]]
        reading = read([*info, "NICs"], ["vm-1", "42", 0], vDisk=tab)
        assert "disks" not in reading.machines[0]
        assert reading.remarks == ["vDisk: rows of no machine in vInfo, or of several: 1, of web"]


def test_rows_by_a_name_of_two_machines() -> None:
    tab = [["VM", "Disk", "Capacity MiB"], ["web", "Hard disk 1", 1]]
    reading = read(["VM ID", "NICs"], ["vm-1", 0], ["vm-2", 0], vDisk=tab)
    assert [item.get("disks") for item in reading.machines] == [None, None]
    assert reading.remarks == ["vDisk: rows of no machine in vInfo, or of several: 1, of web"]


def test_agents_of_vsphere_are_passed_over() -> None:
    names = ["vCLS (12)", "vCLS-42030b62-7e2a-4f5e-8a35-000000000000", "vCLS", "vCLS-tests"]
    rows = [["VM", "CPUs", "Memory", "NICs"], *([name, 1, 128, 0] for name in names)]
    reading = rvtools.read({"vInfo": rows})
    assert reading.left_out == {"agents of vSphere": 3} and reading.machines[0]["name"] == "vCLS-tests"


@pytest.mark.parametrize(
    ("heading", "cell", "memory"),
    [
        ("Memory GB", 1, GIB),
        ("Memory (GB)", "1,5", 3 * GIB // 2),
        ("MemoryGB", "0.5", GIB // 2),
        ("Memory KB", 1048576, GIB),
        ("Memory TiB", 1, 1 << 40),
        ("vInfoMemory", 1024, GIB),
    ],
)
def test_units_of_headings(heading: str, cell: Any, memory: int) -> None:
    rows = [["VM", "CPUs", heading, "NICs"], ["web", 1, cell, 0]]
    assert rvtools.read({"vInfo": rows}).machines[0]["memory"] == memory


@pytest.mark.parametrize("cell", ["1 GB", "1GiB", "1,0 GB", "1024 MB"])
def test_units_in_cells(cell: str) -> None:
    rows = [["Name", "State", "CPUs", "Memory Size", "NICs", "Notes"], ["web", "Powered On", 1, cell, 0, "8 GB"]]
    (item,) = rvtools.read({"vInfo": rows}).machines
    assert (item["memory"], item["power"]) == (GIB, "on")


def test_titles_above_the_headings() -> None:
    rows = [["Report"], [], ["VM", "CPUs", "Memory", "NICs"], ["web", "?", 512, 0], ["db", 1, 512, 0]]
    reading = rvtools.read({"vInfo": rows, "vDisk": [["Disks of web"], ["VM", "Capacity MiB"], ["db", 1]]})
    assert reading.machines[0]["disks"] == [{"size": MIB}]
    assert reading.remarks[0].startswith("vInfo row 4, column CPUs: '?'")


def test_amounts_that_are_no_numbers() -> None:
    rows = [["VM", "CPUs", "Memory GB", "NICs"], ["web", 1, "1.024", 0]]
    assert rvtools.read({"vInfo": rows}).remarks == [
        "vInfo row 2, column Memory: '1.024 GB' is not a whole number; the machine 'web' is left out"
    ]


def test_what_no_vm_has() -> None:
    header = ["Num Monitors", "vApp", "Cluster rule(s)", "Cluster rule name(s)", "Connection state", "Powerstate"]
    cpu = [["VM", "Limit", "Reservation"], ["web", 2000, 1000]]
    memory = [["VM", "Limit"], ["web", -1]]
    usb = [["VM", "Device Type"], ["web", "VirtualUSB"]]
    snapshots = [["VM", "Name"], ["web", "before"], ["web", "after"]]
    row = [2, "shop", "anti-affinity", "apart", "orphaned", "suspended"]
    item = machine(header, row, vCPU=cpu, vMemory=memory, vUSB=usb, vSnapshot=snapshots)
    assert item["not_brought"] == [
        "2 monitors",
        "its order of starting in the vApp shop",
        "cluster rules (apart)",
        "what changed since vCenter lost it (orphaned)",
        "snapshots; the current state is what counts",
        "a limit of 2000 MHz of CPU",
        "a reservation of 1000 MHz, less than all its CPUs",
    ]
    assert item["passthrough"] == ["USB VirtualUSB"] and item["power"] == "suspended"
    assert "not_brought" not in machine(header, [1, "", "", "", "connected", "poweredOn"])


def test_headings_of_all_versions() -> None:
    spelled = {"Capacity MB": "capacity", "vDiskCapacityMiB": "capacity", "Size MiB (total)": "sizemibtotal", "b": "b"}
    assert {text: heading_of("vDisk", text)[0] for text in spelled} == spelled


@pytest.mark.parametrize("total", [["Total", 3, 1536, "", ""], ["", 3, 1536]])
def test_sums_below_the_machines_are_none(total: list[Any]) -> None:
    header = ["VM", "CPUs", "Memory", "Powerstate", "VM ID"]
    rows = [["web", 1, 512, "poweredOn", "vm-1"], ["db", 2, 1024, "poweredOff", ""], total]
    reading = rvtools.read({"vInfo": [header, *rows], "vNetwork": []})
    assert [item["name"] for item in reading.machines] == ["web", "db"]
    (remark,) = reading.remarks
    why = f"has neither VM ID nor Powerstate, as a row of sums; the machine '{total[0]}' is left out"
    assert remark == f"vInfo row 4: {why}"


def test_exports_without_ids_are_no_sums() -> None:
    first = {"vInfo": [["VM", "vCPU", "Memory", "VM ID"], ["web", 1, 512, "vm-1"]]}
    second = {"vInfo": [["VM", "vCPU", "Memory"], ["db", 2, 512]]}
    reading = rvtools.read_all({"a": first, "b": second})
    assert [item["name"] for item in reading.machines] == ["web", "db"]


@pytest.mark.parametrize(
    ("amount", "size"),
    [
        ("40.123456789", 41087),
        ("40,5", 41472),
        (40.125, 41088),
        ("4,096 MB", 4096),
        ("0.5 MB", 1),
        ("40.125", None),
        (math.inf, None),
    ],
)
def test_amounts_with_decimals(amount: Any, size: Any) -> None:
    reading = read(["Disks", "NICs", "Total disk capacity GB"], [1, 0, amount])
    found = [disk["size"] // MIB for disk in reading.machines[0].get("disks", ())]
    assert found == ([size] if size else []) and bool(reading.remarks) is not bool(size)


@pytest.mark.parametrize(("template", "count"), [("WAAR", 0), ("Prawda", 0), ("ONWAAR", 1), ("Fałsz", 1)])
def test_words_of_spreadsheets_in_other_languages(template: str, count: int) -> None:
    assert len(read(["Template"], [template]).machines) == count


@pytest.mark.parametrize(("role", "count"), [("2", 0), (2.0, 0), ("secondary", 0), ("1", 1), ("primary", 1), ("", 1)])
def test_secondaries_of_fault_tolerance_are_left_out(role: Any, count: int) -> None:
    reading = read(["FT Role"], [role])
    assert len(reading.machines) == count
    assert reading.left_out["secondaries of fault tolerance"] == 1 - count
