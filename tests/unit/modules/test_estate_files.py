"""Exports as programs of all kinds save them: encodings, delimiters, several files, and what is none."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from estate_module import refusal, run
from made_estate import sheets, write_csv, write_xlsx

CSV = 'VM;Powerstate;Template;CPUs;Memory;NICs\r\n"B\u00fcro 1";poweredOn;False;2;4096;0\r\n'
QEMU = "cores: 2\nmemory: 2048\nname: web\nscsi0: local-lvm:vm-100-disk-0,size=8G\n"
LXC = "arch: amd64\nhostname: ct1\nmemory: 512\nrootfs: local-lvm:vm-108-disk-0,size=8G\nswap: 512\n"
SERVER = {"ID": "s1", "Name": "web", "Status": "ACTIVE", "Networks": {}, "Flavor": "small"}
FLAVOR = {"ID": "f1", "Name": "small", "VCPUs": 1, "RAM": 512, "Disk": 5}


def machines(source: Path, **options: Any) -> list[dict[str, Any]]:
    result, _task = run(source, **options)
    assert not result["failed"], result["msg"]
    return list(result["machines"])


def remarks(source: Path, **options: Any) -> list[str]:
    return list(run(source, **options)[0]["remarks"])


@pytest.mark.parametrize(
    "content",
    [
        CSV.encode(),
        CSV.encode("utf-8-sig"),
        CSV.encode("utf-16"),
        CSV.encode("utf-16-le"),
        CSV.encode("utf-16-be"),
        CSV.encode("utf-32"),
        CSV.replace(";", "\t").encode("utf-16"),
        CSV.replace(";", ",").encode(),
        CSV.replace(";", "|").encode(),
        b"sep=;\r\n" + CSV.encode(),
        b"\r\n" + CSV.encode(),
        b"#TYPE Selected.VirtualMachine\n" + CSV.replace(";", ",").encode(),
        b"Machines of vc01, vc02, vc03 and vc04\n\n" + CSV.encode(),
    ],
)
def test_encodings_and_delimiters(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "RVTools_tabvInfo.csv").write_bytes(content)
    (item,) = machines(tmp_path)
    assert (item["name"], item["vcpus"], item["memory"]) == ("B\u00fcro 1", 2, 4 << 30)
    assert remarks(tmp_path) == []


def test_code_page_of_windows_is_a_guess(tmp_path: Path) -> None:
    file = tmp_path / "RVTools_tabvInfo.csv"
    file.write_bytes(CSV.encode("cp1252"))
    assert machines(tmp_path)[0]["name"] == "B\u00fcro 1"
    said = "is not UTF-8 and was read as Windows-1252; if names are wrong, save it as UTF-8"
    assert remarks(tmp_path) == [f"RVTools_tabvInfo.csv: {said}"]
    file.write_bytes("VM;CPUs;Memory\n\u3000;1;2\n".encode("cp932"))
    assert refusal(tmp_path) == f"source: {file}: is no text in UTF-8, UTF-16 or Windows-1252; save it as UTF-8"


def test_cells_with_lines_and_long_notes(tmp_path: Path) -> None:
    (tmp_path / "vInfo.csv").write_text(
        f'VM,CPUs,Memory,NICs,Annotation\nweb,1,512,0,"first\nsecond {"x" * 200_000}"\ndb\u2028,2,512,0,\x0b\n',
        encoding="utf-8",
    )
    assert [item["name"] for item in machines(tmp_path)] == ["web", "db"]
    (tmp_path / "vInfo.csv").write_text(f'VM,CPUs,Memory\n"{"x" * (1 << 25)}",1,2\n')
    assert "vInfo.csv: is no CSV: field larger than field limit" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("rvtools.xlsx", b"", "is empty; export it again"),
        ("vInfo.csv", b" \n", "is empty; export it again"),
        ("rvtools.xlsx", b"\xd0\xcf\x11\xe0", "has a password, or is an old .xls; save it as .xlsx without a password"),
        ("rvtools.xls", b"<html><table>", "is HTML or XML; open it in a spreadsheet program and save it as .xlsx"),
        ("vInfo.csv", b"<!DOCTYPE html>", "is HTML or XML; export it as .xlsx, CSV or JSON"),
        ("vInfo.csv", b"PK\x03\x04", "is a zip archive; unpack it"),
        ("vInfo.csv", b"\xd0\xcf\x11\xe0", "is a binary file of Office; save it as .xlsx or CSV"),
        ("export.zip", b"PK\x03\x04", "is a zip archive; unpack it and name the folder"),
    ],
)
def test_files_that_are_no_exports(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert refusal(tmp_path / name) == f"source: {tmp_path / name}: {problem}"


def test_file_that_must_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    file = tmp_path / "vms.json"
    file.write_text("[]")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    for kind in ("auto", "openstack"):
        assert refusal(tmp_path, kind=kind) == f"source: {file}: cannot be read: Permission denied"


def test_names_of_tabs_in_files(tmp_path: Path) -> None:
    for number, name in enumerate(
        ("vInfo", "tabvInfo", "RVTools_tabvInfo_2024-05", "vc1-RVTools_tabvInfo", "machines")
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / f"{name}.csv").write_text("VM,CPUs,Memory,NICs\nweb,1,512,0\n")
        assert machines(folder)[0]["name"] == "web" and remarks(folder) == []
    write_xlsx(tmp_path / "sheet.xlsx", {"Sheet1": [["VM", "CPUs", "Memory", "NICs"], ["web", 1, 512, 0]]})
    assert machines(tmp_path / "sheet.xlsx")[0]["name"] == "web"
    tabs = {"RVTools_tabvInfo": [["VM", "CPUs", "Memory", "NICs"], ["web", 1, 512, 0]], "Summary": [["all"]]}
    write_xlsx(tmp_path / "sheet.xlsx", tabs)
    assert remarks(tmp_path / "sheet.xlsx") == ["Summary: no tab of RVTools has this name; it does not count"]


def test_exports_of_several_vcenters(tmp_path: Path) -> None:
    header = ["VM", "CPUs", "Memory", "NICs", "VM ID", "VI SDK UUID"]
    for vcenter in "ab":
        tabs = {"vInfo": [header, ["web", 1, 512, 0, "vm-1", vcenter], ["x", "?", 512, 0, "vm-2", vcenter]]}
        write_xlsx(tmp_path / f"{vcenter}.xlsx", tabs)
        (tmp_path / vcenter).mkdir()
        write_csv(tmp_path / vcenter, tabs)
    (tmp_path / "~$a.xlsx").write_text("open")
    assert [item["id"] for item in machines(tmp_path)] == ["a/vm-1", "b/vm-1"]
    assert remarks(tmp_path)[1].startswith("a.xlsx: vInfo row 3, column CPUs: '?' is not a whole number")
    for file in tmp_path.glob("*.xlsx"):
        file.unlink()
    assert [item["id"] for item in machines(tmp_path)] == ["a/vm-1", "b/vm-1"]
    twice = {"vInfo": [header, ["web", 1, 512, 0, "vm-1", "a"]]}
    (tmp_path / "more").mkdir()
    write_csv(tmp_path / "more", twice)
    assert remarks(tmp_path)[0].endswith("; keep one export of each vCenter; the machine 'web' is left out")
    (tmp_path / "more" / "RVTools_tabvInfo.csv").unlink()
    # In one folder, told apart by the rest of their names.
    for vcenter in "ab":
        (tmp_path / vcenter / "RVTools_tabvInfo.csv").rename(tmp_path / f"{vcenter}_RVTools_tabvInfo.csv")
    assert [item["id"] for item in machines(tmp_path)] == ["a/vm-1", "b/vm-1"]
    (tmp_path / "a-RVTools_tabvInfo.csv").write_text("VM,CPUs,Memory\n")
    assert "is a second file of the tab vInfo; keep one, or put each in a folder" in refusal(tmp_path)


def test_tabs_whose_files_have_other_names(tmp_path: Path) -> None:
    made = sheets(3)
    write_csv(tmp_path, made)
    expected = machines(tmp_path)
    (tmp_path / "RVTools_tabvDisk.csv").rename(tmp_path / "vDisk_of_may.csv")
    (tmp_path / "RVTools_tabvHealth.csv").write_bytes(b"\xff\x00\xff")
    assert machines(tmp_path) == expected and remarks(tmp_path) == []


def test_configurations_and_what_lies_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "qemu-server"
    folder.mkdir()
    (folder / "100.conf").write_text(QEMU)
    (folder / "101.conf").write_text("name: defaults\n")
    (tmp_path / "vm-102.conf").write_text(QEMU)
    (tmp_path / "108.conf").write_text(LXC)
    (tmp_path / "corosync.conf").write_text("totem {\n  version: 2\n}\n")
    (tmp_path / "109.conf").write_text("nothing\n")
    (tmp_path / "100.fw").write_text("[OPTIONS]\nenable: 1\n")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "100.conf").write_text(QEMU)
    result, _task = run(tmp_path)
    assert result["kind"] == "proxmox" and result["left_out"] == {"containers": 1}
    assert {item["id"]: item["name"] for item in result["machines"]} == {"100": "web", "101": "defaults", "102": "web"}
    assert [item["not_brought"] for item in result["machines"] if item["id"] == "100"] == [
        ["rules of the firewall (100.fw)"]
    ]
    assert result["remarks"] == [
        "containers of LXC are no machines and are not brought: ct1",
        "109.conf, corosync.conf: no configurations of machines; they do not count",
    ]


def test_json_of_proxmox_is_no_openstack(tmp_path: Path) -> None:
    config = {
        "cores": 2,
        "memory": "2048",
        "scsi0": "l:v,size=1G",
        "digest": "d",
        "name": "web",
        "hostpci0": "mapping=t4",
    }
    (tmp_path / "100.json").write_text(json.dumps(config))
    entries = [
        {"id": "qemu/100", "vmid": 100, "type": "qemu", "status": "running", "pool": "shop", "maxcpu": 2, "maxmem": 1},
        {
            "id": "qemu/101",
            "vmid": 101,
            "type": "qemu",
            "name": "db",
            "status": "stopped",
            "maxcpu": 4,
            "maxmem": 1 << 32,
        },
        {"id": "lxc/102", "vmid": 102, "type": "lxc", "name": "ct", "maxcpu": 1, "maxmem": 1 << 30},
        {"id": "qemu/103", "vmid": 103, "type": "qemu", "template": 1, "maxcpu": 1, "maxmem": 1 << 30},
        {"id": "qemu/104", "vmid": 104, "type": "qemu", "name": "odd", "maxcpu": "many", "maxmem": 1 << 30},
        {"id": "node/pve", "type": "node", "maxcpu": 64, "maxmem": 1 << 40},
    ]
    (tmp_path / "resources.json").write_text(json.dumps({"data": entries}))
    result, _task = run(tmp_path)
    web, other = result["machines"]
    assert result["kind"] == "proxmox" and result["left_out"] == {"containers": 1, "templates": 1, "unreadable": 1}
    assert (web["id"], web["power"], web["folder"], web["vcpus"]) == ("100", "on", "shop", 2)
    assert web["passthrough"] == ["t4"] and len(web["disks"]) == 1
    assert (other["id"], other["vcpus"], other["memory"], other["power"]) == ("101", 4, 1 << 32, "off")
    assert other["not_brought"] == ["its disks, network interfaces and devices; save the output of qm config too"]


def test_configuration_without_a_number_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "web.json").write_text(json.dumps({"cores": 2, "name": "web", "digest": "d"}))
    (tmp_path / "more.json").write_text(json.dumps({"200": {"vmid": 200, "cores": 1, "name": "db"}}))
    assert {item["id"] for item in machines(tmp_path)} == {"web", "200"}
    (tmp_path / "more.json").write_text(json.dumps({"300": {"cores": 1, "name": "db"}}))
    assert {item["id"] for item in machines(tmp_path)} == {"web", "300"}


def test_texts_with_tabs_or_configurations(tmp_path: Path) -> None:
    (tmp_path / "RVTools_tabvInfo.txt").write_text("VM\tCPUs\tMemory\tNICs\nweb\t1\t512\t0\n")
    (tmp_path / "readme.txt").write_text("An export of May.\n")
    assert [item["name"] for item in machines(tmp_path)] == ["web"]
    (tmp_path / "RVTools_tabvInfo.txt").unlink()
    (tmp_path / "100.txt").write_text(QEMU)
    assert [item["id"] for item in machines(tmp_path)] == ["100"] and remarks(tmp_path) == []


def test_lists_of_openstack_in_other_formats(tmp_path: Path) -> None:
    (tmp_path / "servers.csv").write_text('"ID","Name","Status","Flavor"\n"s1","web","ACTIVE","small"\n')
    assert refusal(tmp_path).endswith("servers.csv: is a list of OpenStack as CSV; save it as JSON, with -f json")
    (tmp_path / "servers.csv").rename(tmp_path / "servers.yml")
    (tmp_path / "servers.yml").write_text("- {ID: s1, Name: web, Flavor: small}\n")
    assert refusal(tmp_path).endswith(
        "has no machine: no file declares a VirtualMachine; lists of OpenStack are read as JSON, with -f json"
    )


def test_lists_and_single_entries_of_openstack(tmp_path: Path) -> None:
    (tmp_path / "servers.json").write_text("\n".join(json.dumps({**SERVER, "ID": own}) for own in ("s1", "s2")))
    (tmp_path / "api.json").write_text(json.dumps({"server": {**SERVER, "ID": "s3"}, "servers_links": []}))
    (tmp_path / "flavors.json").write_text(json.dumps({"flavors": [FLAVOR]}))
    (tmp_path / "images.json").write_text(json.dumps([{"ID": "i", "Name": "rhel", "Status": "active"}]))
    (tmp_path / "projects.json").write_text(json.dumps([{"ID": "p", "Name": "shop"}]))
    assert {item["id"] for item in machines(tmp_path)} == {"s1", "s2", "s3"}
    assert remarks(tmp_path) == ["projects.json: has nothing of a known platform; it does not count"]


def test_other_platforms_in_a_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "servers.json").write_text(json.dumps([SERVER]))
    (tmp_path / "flavors.json").write_text(json.dumps([FLAVOR]))
    (tmp_path / "rules.yml").write_text("waste: 3\n")
    (tmp_path / "100.conf").write_text(LXC)
    result, _task = run(tmp_path)
    assert result["kind"] == "openstack"
    assert result["remarks"] == [
        f"{tmp_path}: has files of proxmox, kubevirt too, which do not count; name it with kind"
    ]


def test_json_of_kubectl(tmp_path: Path) -> None:
    domain = {"devices": {}, "cpu": {"cores": 2}, "memory": {"guest": "1Gi"}}
    vm = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "web"},
          "spec": {"template": {"spec": {"domain": domain}}}}  # fmt: skip
    (tmp_path / "vms.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [vm]}))
    result, _task = run(tmp_path)
    assert (result["kind"], result["machines"][0]["vcpus"]) == ("kubevirt", 2)


def test_workbook_in_the_old_format_is_a_remedy(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "rvtools.xlsx", "w") as archive:
        archive.writestr("other.txt", "x")
    assert refusal(tmp_path / "rvtools.xlsx").endswith("; save it as .xlsx or CSV")
