"""The module estate_info on files: which platform they are of, and what is wrong with them."""

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from estate_module import refusal, run
from estate_samples import instancetype
from made_estate import sheets, write_csv, write_xlsx

from plugins.module_utils._estate.cluster import live

VM = """apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: shop}
spec:
  instancetype: {name: large}
  template: {spec: {domain: {devices: {}}}}
"""


def test_spreadsheet_and_csv_are_the_same(tmp_path: Path) -> None:
    made = sheets(40)
    write_xlsx(tmp_path / "rvtools.xlsx", made)
    results = [run(tmp_path / "rvtools.xlsx")[0]]
    for delimiter in (",", ";"):
        folder = tmp_path / f"csv{ord(delimiter)}"
        folder.mkdir()
        write_csv(folder, made, delimiter)
        results.append(run(folder)[0])
    assert results[0]["kind"] == "rvtools" and len(results[0]["machines"]) == 40
    assert results[0] == results[1] == results[2]
    both = run(tmp_path, kind="rvtools")[0]
    assert both["machines"] == results[0]["machines"] and len(both["remarks"]) == 1
    assert both["remarks"][0].endswith("not read, because there are spreadsheets; keep either in the folder")
    assert run(tmp_path / "csv44" / "RVTools_tabvInfo.csv")[0]["machines"][0]["vcpus"] > 0


@pytest.mark.nightly("it takes many seconds on a busy machine")
def test_twenty_thousand_rows(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "rvtools.xlsx", sheets(20_000))
    result, _task = run(tmp_path / "rvtools.xlsx")
    assert len(result["machines"]) + sum(result["left_out"].values()) == 20_000


def test_formulas_without_values_are_remarks(tmp_path: Path) -> None:
    rows = [["VM", "CPUs", "Memory", "NICs"], ["web", 2, "=B2*1024", 0], ["{{ evil }}", 1, 512, 0]]
    write_xlsx(tmp_path / "rvtools.xlsx", {"vInfo": rows})
    result, task = run(tmp_path / "rvtools.xlsx")
    assert result["remarks"] == ["vInfo row 2, column Memory: is empty; the machine 'web' is left out"]
    assert task.warnings[0].startswith("1 remark on ")
    assert result["machines"][0]["name"] == "{ { evil }}"


def test_spreadsheets_need_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def imported(name: str, *arguments: Any) -> Any:
        if name == "python_calamine":
            raise ImportError(name)
        return real(name, *arguments)

    (tmp_path / "rvtools.xlsx").touch()
    monkeypatch.setattr(builtins, "__import__", imported)
    assert refusal(tmp_path / "rvtools.xlsx").endswith(
        "rvtools.xlsx: pip install python-calamine, which reads spreadsheets"
    )


def test_files_of_openstack(tmp_path: Path) -> None:
    (tmp_path / "servers.json").write_text(json.dumps([{"Name": "web", "Flavor Name": "small"}]))
    (tmp_path / "flavors.json").write_text(json.dumps([{"Name": "small", "VCPUs": 1, "RAM": 512}]))
    (tmp_path / "images.json").write_text(json.dumps({"images": [{"Name": "i", "Disk Format": "raw"}]}))
    (tmp_path / "notes.txt").write_text("nothing")
    result, _task = run(tmp_path)
    assert (result["kind"], result["machines"][0]["vcpus"]) == ("openstack", 1)
    (tmp_path / "servers.json").write_text("[")
    assert "servers.json: is no JSON: " in refusal(tmp_path)
    (tmp_path / "servers.json").write_text("[]")
    assert "has no servers; save openstack server list --long -f json in it" in refusal(tmp_path)


def test_files_of_proxmox(tmp_path: Path) -> None:
    (tmp_path / "100.conf").write_text("name: web\ncores: 2\n")
    result, _task = run(tmp_path)
    assert (result["kind"], result["machines"][0]["id"]) == ("proxmox", "100")


def test_files_of_kubevirt(tmp_path: Path) -> None:
    (tmp_path / "vm.yml").write_text(VM)
    assert "has no machine: vm.yml, line 1: virtualmachineclusterinstancetypes" in refusal(tmp_path)
    result, _task = run(tmp_path, objects=[instancetype("large", 4, "8Gi")])
    assert (result["kind"], result["machines"][0]["vcpus"]) == ("kubevirt", 4)
    (tmp_path / "catalog.yml").write_text(json.dumps(instancetype("large", 3, "8Gi")))
    assert run(tmp_path)[0]["machines"][0]["vcpus"] == 3


def test_files_of_tasks_of_kubevirt(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.j2").write_text(VM.replace(", namespace: shop", ""))
    (tmp_path / "files" / "b.j2").write_text("--- []\n---\nkind: {{ kind }}\n")
    tasks = [{"k8s": {"src": name, "namespace": "lab"}} for name in ("a.j2", "b.j2", "a.j2", "none.j2")]
    (tmp_path / "play.yml").write_text(json.dumps([{"tasks": tasks}]))
    result, _task = run(tmp_path / "play.yml", objects=[instancetype("large", 4, "8Gi")])
    assert [machine["id"] for machine in result["machines"]] == ["lab/web"]
    (remark,) = result["remarks"]
    assert remark.startswith("b.j2, line 3, ") and remark.endswith("; its machines are left out")


@pytest.mark.parametrize("kind", ["auto", "proxmox"])
def test_missing_files(tmp_path: Path, kind: str) -> None:
    assert refusal(tmp_path / "none", kind=kind) == f"source: {tmp_path}/none: no such file or folder"


def test_files_of_nothing_known(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    for name in ("notes.txt", "guest.xml", "guest.ova"):
        (tmp_path / name).touch()
        assert refusal(tmp_path).endswith(
            ", or list machines of others in a CSV file with the columns VM, CPUs and Memory MiB"
        )
    assert refusal(tmp_path, kind="vsphere").endswith("is read from its address, such as https://vcenter.example.com")
    (tmp_path / "notes.txt").write_text("to do")
    nothing = {"rvtools": "no spreadsheet and no CSV file", "proxmox": "no configurations of machines"}
    for kind, what in nothing.items():
        assert refusal(tmp_path, kind=kind).startswith(f"source: {tmp_path}: has {what}; name ")
    (tmp_path / "rvtools.xlsx").write_text("nothing")
    assert "rvtools.xlsx: is no spreadsheet: " in refusal(tmp_path / "rvtools.xlsx")


def test_addresses_tell_their_platform() -> None:
    addresses = ("cluster", "cloud:mine", "https://pve:8006", "https://vcenter/sdk", "rvtools.xlsx")
    assert [live.kind_of(address) for address in addresses] == ["kubevirt", "openstack", "proxmox", "vsphere", ""]
    assert refusal("https://vcenter", kind="rvtools") == "kind: rvtools is read from files, and source is an address"


def test_libraries_are_named_where_they_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(live, "import_module", lacking)
    for source, package in (
        ("https://a", "pyvmomi"),
        ("cloud:a", "openstacksdk"),
        ("https://a:8006", "proxmoxer requests"),
    ):
        assert refusal(source).startswith(f"source: pip install {package}, which reads ")
