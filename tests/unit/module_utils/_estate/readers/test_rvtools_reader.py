"""Sheets of RVTools in all their forms; a cell that cannot be read never makes a wrong machine."""

import random
from typing import Any

import pytest
from made_estate import sheets

from plugins.module_utils._estate.machine import machines_of
from plugins.module_utils._estate.readers import rvtools
from plugins.module_utils._estate.readers.reading import flag_of, text_of, whole_of
from plugins.module_utils._resolver.api.errors import FieldError

MIB = 1 << 20
INFO = ["VM", "CPUs", "Memory", "VM ID"]


def read(*rows: list[Any], header: list[str] | None = None, **more: Any) -> Any:
    return rvtools.read({"vInfo": [header or INFO, *rows], "vNetwork": [INFO], **more})


def test_all_facts_of_a_machine() -> None:
    info = [
        ["VM", "Powerstate", "CPUs", "Memory", "Folder", "Firmware", "EFI Secure boot", "VM ID", "VM UUID", "Host",
         "OS according to the configuration file", "OS according to the VMware Tools", "FT State",
         "Latency Sensitivity"],
        ["web", "poweredOn", 4.0, 8192.0, "Shop", "efi", "True", "vm-1", "42", "esx1",
         "Ubuntu Linux (64-bit)", "Ubuntu 22.04", "running", "normal"],
    ]  # fmt: skip
    reading = rvtools.read(
        {
            "vInfo": info,
            "vCPU": [["VM", "Cores p/s", "Reservation", "Hot Add", "VM ID"], ["web", 2, 8000, True, "vm-1"]],
            "vMemory": [["VM", "Reservation", "Hot Add", "VM ID"], ["web", 1024, "yes", "vm-1"]],
            "vDisk": [
                ["VM", "Disk", "Disk Path", "Capacity MiB", "Raw", "Disk Mode", "Sharing mode", "Shared Bus", "Thin",
                 "Controller", "VM ID"],
                ["web", "Hard disk 1", "[gold] web/web.vmdk", "40.960", False, "persistent", "sharingNone", "noSharing",
                 True, "NVME", "vm-1"],
                ["web", "Hard disk 2", "", "", True, "", "sharingMultiWriter", "", "", "", "vm-1"],
                ["web", "Hard disk 3", "", 1, "", "", "", "physicalSharing", "", "", "vm-1"],
            ],
            "vNetwork": [
                ["VM", "Adapter", "Network", "Connected", "Mac Address", "VM ID"],
                ["web", "Vmxnet3", "lan", "False", "00:50:56:00:00:01", "vm-1"],
            ],
            "vHost": [["Host", "Speed"], ["esx1", 2000]],
        }
    )  # fmt: skip
    assert reading.machines == [
        {
            "id": "vm-1",
            "name": "web",
            "folder": "Shop",
            "power": "on",
            "vcpus": 4,
            "cores_per_socket": 2,
            "memory": 8192 * MIB,
            "firmware": "efi",
            "secure_boot": True,
            "uuid": "42",
            "guest": {"text": "Ubuntu 22.04\nUbuntu Linux (64-bit)"},
            "reserved": {"cpu": True, "memory": 1024 * MIB},
            "hot_add": {"cpu": True, "memory": True},
            "fault_tolerance": True,
            "disks": [
                {
                    "name": "Hard disk 1",
                    "size": 40960 * MIB,
                    "storage": "gold",
                    "path": "[gold] web/web.vmdk",
                    "thin": True,
                    "mode": "persistent",
                    "controller": "NVME",
                },
                {"name": "Hard disk 2", "shared": True, "raw": True},
                {"name": "Hard disk 3", "size": MIB, "shared": True},
            ],
            "nics": [{"network": "lan", "mac": "00:50:56:00:00:01", "model": "Vmxnet3", "connected": False}],
        }
    ]
    assert (reading.remarks, reading.left_out) == ([], {})
    assert machines_of(reading.machines)


def test_reservations_of_less_than_all() -> None:
    sheets_of = {
        "vInfo": [
            [*INFO, "Host", "Latency Sensitivity"],
            ["a", 4, 512, "1", "esx1", "high"],
            ["b", 4, 512, "2", "esx1", ""],
        ],
        "vCPU": [["VM", "Reservation", "VM ID"], ["a", 0, "1"], ["b", 7999, "2"]],
        "vMemory": [["VM", "Memory Reservation Locked To Max", "VM ID"], ["a", True, "1"], ["b", "", "2"]],
        "vHost": [["Host", "Speed"], ["esx1", 2000]],
    }
    first, second = rvtools.read(sheets_of).machines
    assert first["reserved"] == {"cpu": True, "memory": 512 * MIB} and "reserved" not in second


def test_columns_in_any_order_and_old_spellings() -> None:
    """The same machines, whatever the version has called its columns."""
    made = sheets(60)
    chance = random.Random(3)
    old: dict[str, list[list[Any]]] = {}
    names = {"Memory": "Memory MB", "Capacity MiB": "Capacity MB", "CPUs": "# CPUs", "VI SDK UUID": "vCenter UUID"}
    for name, rows in made.items():
        order = list(range(len(rows[0])))
        chance.shuffle(order)
        old[name] = [[row[place] for place in order] for row in rows]
        old[name][0] = [str(names.get(head, head)).lower() for head in old[name][0]]
    assert rvtools.read(old) == rvtools.read(made)


def test_templates_and_placeholders_are_counted() -> None:
    header = [*INFO, "Template", "SRM Placeholder"]
    rows = [["a", 1, 512, "1", True, ""], ["b", 1, 512, "2", "", "wahr"], ["VM", "VM", "VM", "VM"], ["", 3, 4, "5"]]
    reading = read(*rows, [None] * 4, ["c", 1, 512, "6", "VM", "VM"], header=header)
    assert reading.left_out == {"templates": 1, "placeholders": 3}
    assert [item["name"] for item in reading.machines] == ["c"]


@pytest.mark.parametrize(
    ("cpus", "memory", "remark"),
    [
        ("four", 512, "column CPUs: 'four' is not a whole number"),
        (None, 512, "column CPUs: is empty"),
        ("VM", 512, "column CPUs: is empty"),
        ("1.000", 512, "column CPUs: '1.000' may be a decimal or a thousand"),
        (True, 512, "column CPUs: True is not a number"),
        (0, 512, "column CPUs: 0 is not 1 to 4096"),
        (1.5, 512, "column CPUs: 1.5 is not a whole number"),
        (2, float("nan"), "column Memory: nan is not a whole number"),
        (2, "=B2*1024", "column Memory: '=B2*1024' is a formula without a value; save the file with values"),
        (2, "4096,5", "column Memory: '4096,5' is not a whole number"),
        (2, "8 apples", "column Memory: '8 apples' is not a whole number"),
        (2, "1,024 GB", "column Memory: '1,024 GB' is not a whole number"),
    ],
)
def test_unreadable_cells_leave_the_machine_out(cpus: Any, memory: Any, remark: str) -> None:
    reading = read(["web", cpus, memory, "1"], ["db", 1, 512, "2"])
    assert reading.remarks == [f"vInfo row 2, {remark}; the machine 'web' is left out"]
    assert reading.left_out == {"unreadable": 1} and len(reading.machines) == 1


@pytest.mark.parametrize(
    "cell", [34321, 34321.0, "34321", "34,321", "34.321", "34'321", "34\u202f321", "34321,00", "34.321,0"]
)
def test_numbers_in_other_languages(cell: Any) -> None:
    assert read(["web", "4,0", cell, "1"]).machines[0]["memory"] == 34321 * MIB


def test_cells_as_texts_and_flags() -> None:
    assert [text_of(cell) for cell in (None, 4.0, 4.5, " a ")] == ["", "4", "4.5", "a"]
    assert [flag_of(cell) for cell in ("Ja", 0, "maybe", True)] == [True, False, None, True]
    with pytest.raises(ValueError, match="not a whole number"):
        whole_of(-1)


def test_unreadable_details_are_remarks() -> None:
    disk = [["VM", "Disk", "Capacity MiB", "VM ID"], ["web", "d", "big", "1"]]
    reading = read(["web", 1, 512, "1"], vDisk=disk)
    assert reading.remarks == ["vDisk row 2, column capacity: 'big' is not a whole number; it does not count"]
    assert reading.machines[0]["disks"] == [{"name": "d"}]


def test_doubled_names_and_ids() -> None:
    reading = read(["web", 1, 512, "1"], ["web", 2, 512, "2"], ["db", 1, 512, "3"], ["db2", 1, 512, "3"])
    assert [item["id"] for item in reading.machines] == ["1", "2"] and reading.left_out == {"unreadable": 2}
    # Without IDs, nothing tells which disks are whose.
    assert read(["web", 1, 512], ["web", 2, 512], ["db", 1, 512], header=INFO[:3]).machines == [
        {"id": "db", "name": "db", "vcpus": 1, "memory": 512 * MIB}
    ]


def test_same_ids_of_several_vcenters() -> None:
    header = [*INFO, "VI SDK UUID"]
    disk = [["VM", "Disk", "Capacity MiB", "VM ID", "VI SDK UUID"], ["web", "d", 1, "1", "b"]]
    machines = read(["web", 1, 512, "1", "a"], ["web", 1, 512, "1", "b"], header=header, vDisk=disk).machines
    assert [item["id"] for item in machines] == ["a/1", "b/1"]
    assert [len(item.get("disks", [])) for item in machines] == [0, 1]


def test_further_columns_as_tags() -> None:
    header = [*INFO, "Owner"]
    rows = [["web", 1, 512, "1", "ann"], ["web", "x", 512, "2", "bob"], ["old", 1, 512, "3", ""]]
    content = {"vInfo": [header, *rows]}
    reading = rvtools.read(content, ["owner"])
    assert [item.get("tags") for item in reading.machines] == [{"owner": "ann"}, None]
    with pytest.raises(FieldError, match=r"^attributes: vInfo: has no column 'team'$"):
        rvtools.read(content, ["team"])


def test_missing_sheets_and_columns_are_one_line() -> None:
    with pytest.raises(FieldError, match=r"^vInfo: no such sheet among vCPU; export all sheets of RVTools$"):
        rvtools.read({"vCPU": []})
    with pytest.raises(
        FieldError,
        match=r"^vInfo: has no column CPUs; its columns: VM, A, B, C, D, E, F, G and others; name the column that has",
    ):
        rvtools.read({"vInfo": [["VM", *"ABCDEFGH"], ["web"]]})
    assert rvtools.read({"vInfo": []}).machines == []
