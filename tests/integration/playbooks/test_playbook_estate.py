"""The playbook estate, as users run it: from an export of RVTools to VMs that run."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import played
from kubernetes import client, config
from made_estate import sheets, write_csv, write_xlsx

GROUP = "instancetype.kubevirt.io"


def play(folder: Path, *arguments: str, cluster: Path | None = None) -> str:
    return played(
        folder, "virtshape.instancetypes.estate", "-e", "estate_directory=out", *arguments, kubeconfig=cluster or ""
    )


def test_check_mode_writes_nothing_and_rules_stay(tmp_path: Path) -> None:
    write_xlsx(tmp_path / "rvtools.xlsx", sheets(30))
    source = ("-e", "estate_source=rvtools.xlsx")
    assert "changed=0" not in play(tmp_path, *source, "--check")
    assert not (tmp_path / "out").exists()
    # Without a cluster, the sums say so.
    assert "room on a cluster is unknown: " in play(tmp_path, *source, cluster=tmp_path / "none")
    rules = tmp_path / "out" / "rules.yml"
    text = rules.read_text()
    assert yaml.safe_load(text) is None and '#   "VM Network": pod' in text
    # The additions of a person stay as they are.
    edited = f"{text}\n# ours\nnetworks: {{VM Network: pod}}\nforklift: {{source_provider: vcenter}}\n"
    rules.write_text(edited)
    shown = play(tmp_path, *source, "--diff")
    assert "changed=0" not in shown and rules.read_text() == edited
    estate = json.loads((tmp_path / "out" / "estate.json").read_text())
    assert [entry["name"] for entry in estate["unmapped"]["networks"]] == ["backup", "dmz"]
    kinds = [item["kind"] for item in yaml.safe_load_all((tmp_path / "out" / "forklift.yml").read_text())]
    assert kinds == ["NetworkMap", "StorageMap", "Plan"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "catalog.yml",
        "estate.json",
        "forklift.yml",
        "report.html",
        "rules.yml",
        "virtual_machines.yml",
    }


@pytest.fixture
def api(cluster: Path, namespace: str) -> Iterator[Any]:
    """The objects of the cluster. The instancetypes and preferences with the name of the namespace are removed."""
    with config.new_client_from_config(str(cluster)) as connection:
        objects = client.CustomObjectsApi(connection)
        yield objects
        for plural in ("virtualmachineclusterinstancetypes", "virtualmachineclusterpreferences"):
            for item in objects.list_cluster_custom_object(GROUP, "v1beta1", plural)["items"]:
                if item["metadata"]["name"].startswith(namespace):
                    objects.delete_cluster_custom_object(GROUP, "v1beta1", plural, item["metadata"]["name"])


def test_machines_become_running_vms(cluster: Path, namespace: str, api: Any, tmp_path: Path) -> None:
    preference = {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": namespace},
        "spec": {"firmware": {"preferredEfi": {"secureBoot": True}}, "features": {"preferredSmm": {}}},
    }
    api.create_cluster_custom_object(GROUP, "v1beta1", "virtualmachineclusterpreferences", preference)
    header = ["VM", "Powerstate", "CPUs", "Memory", "Firmware", "OS according to the configuration file", "VM ID"]
    rows = [
        [f"Web {number}", "poweredOn", 1 + number % 2, 515 + 2 * (number % 3), ("bios", "efi")[number % 2],
         "Acme OS" if number < 6 else "Other", f"vm-{number}"]
        for number in range(10)
    ]  # fmt: skip
    disks = [["VM", "Disk", "Capacity MiB", "VM ID"], ["Web 0", "Hard disk 1", 16, "vm-0"]]
    networks = [
        ["VM", "Network", "Connected", "VM ID"],
        ["Web 0", "lan", True, "vm-0"],
        ["Web 1", "lan", False, "vm-1"],
        ["Web 2", "backup", True, "vm-2"],
    ]
    write_csv(tmp_path, {"vInfo": [header, *rows], "vDisk": disks, "vNetwork": networks})
    # Names and sizes that no other test has.
    rules = {
        "series": namespace,
        "namespace": namespace,
        "waste": 0,
        "start": True,
        "networks": {"lan": "pod", "backup": "ignored"},
        "preferences": [{"match": "acme", "preference": namespace}],
    }
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(rules))
    options = ("-e", f"estate_source={tmp_path}", "-e", "estate_rules=rules.yml", "-e", "estate_state=present")
    play(tmp_path, *options, cluster=cluster)
    estate = json.loads((tmp_path / "out" / "estate.json").read_text())
    assert estate["summary"]["new_sizes"] == 6
    vmis = api.list_namespaced_custom_object("kubevirt.io", "v1", namespace, "virtualmachineinstances")["items"]
    guests = {item["metadata"]["name"]: item for item in vmis}
    assert len(guests) == 10
    for row in estate["machines"]:
        vmi = guests[row["virtual_machine"].partition("/")[2]]
        assert vmi["status"]["phase"] == "Running"
        domain = vmi["spec"]["domain"]
        assert domain["cpu"]["sockets"] * domain["cpu"]["cores"] == row["guest"]["vcpus"] >= row["source"]["vcpus"]
        number = int(row["id"].removeprefix("vm-"))
        assert ("efi" in domain["firmware"].get("bootloader", {})) == bool(number % 2)
        assert row["preference"] == (namespace if number < 6 else "")
        # Only the machine that is connected to a network of the map has an interface.
        assert len(vmi["spec"].get("networks", [])) == len(domain["devices"].get("interfaces", [])) == (number == 0)
    assert "changed=0" in play(tmp_path, *options, cluster=cluster)


def test_machines_keep_their_vms(cluster: Path, namespace: str, api: Any, tmp_path: Path) -> None:
    """The first of two machines with one name leaves the source, and others of its size change."""

    def declare(rows: list[list[Any]], *arguments: str) -> dict[str, Any]:
        write_csv(tmp_path, {"vInfo": [["VM", "CPUs", "Memory", "VM ID", "VM UUID", "VI SDK UUID"], *rows]})
        play(tmp_path, "-e", f"estate_source={tmp_path}", "-e", "estate_rules=rules.yml", *arguments, cluster=cluster)
        estate: dict[str, Any] = json.loads((tmp_path / "out" / "estate.json").read_text())
        return {row["id"]: row for row in estate["machines"]}

    def live() -> dict[str, Any]:
        vms = api.list_namespaced_custom_object("kubevirt.io", "v1", namespace, "virtualmachines")["items"]
        return {vm["metadata"]["name"]: vm for vm in vms}

    rules = {"series": namespace, "namespace": namespace, "new_sizes": 2}
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(rules))
    names = ["web01", "WEB01", *(f"db{number}" for number in range(4))]
    rows = [[name, 7, 1500 + 100 * number, f"vm-{number}", f"u-{number}", "vc"] for number, name in enumerate(names)]
    present = ("-e", "estate_state=present")
    first = declare(rows, *present)
    before = live()
    assert first["vm-1"]["virtual_machine"] == f"{namespace}/web01-2" and len(before) == 6
    # The list in another order: one left, one was renamed, one has grown, one is new.
    renamed = [["other", *rows[2][1:]], [*rows[3][:2], 9000, *rows[3][3:]], ["web01", 7, 1500, "vm-9", "u-9", "vc"]]
    second = declare([*renamed, *rows[:3:-1], rows[1]], *present)
    after = live()
    assert {key: row["virtual_machine"].partition("/")[2] for key, row in second.items()} == {
        "vm-1": "web01-2", "vm-2": "db0", "vm-3": "db1", "vm-4": "db2", "vm-5": "db3", "vm-9": "web01-3"
    }  # fmt: skip
    assert {name for name in after if after[name]["spec"] != before.get(name, {}).get("spec")} == {"db1", "web01-3"}
    assert after["web01"]["metadata"]["resourceVersion"] == before["web01"]["metadata"]["resourceVersion"]
    # The cluster alone tells the same.
    shutil.rmtree(tmp_path / "out")
    third = declare([rows[5], rows[4], rows[1]], "-e", "estate_cluster=true")
    for key in third:
        for field in ("virtual_machine", "instancetype"):
            assert third[key][field] == second[key][field]
    # The name of the first VM is not given again after it was deleted.
    api.delete_namespaced_custom_object("kubevirt.io", "v1", namespace, "virtualmachines", "web01")
    fourth = declare([["WEB01", 7, 1500, "vm-10", "u-10", "vc"], rows[1]], "-e", "estate_cluster=true")
    assert fourth["vm-10"]["virtual_machine"] == f"{namespace}/web01-4"


def test_rules_name_what_the_cluster_has(cluster: Path, namespace: str, tmp_path: Path) -> None:
    write_csv(tmp_path, {"vInfo": [["VM", "CPUs", "Memory", "NICs"], ["web", 1, 1024, 0]]})
    rules = {"namespace": f"{namespace}x", "machines": {"web": {"instancetype": "u1.nanoo"}}}
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(rules))
    options = {
        "estate_source": str(tmp_path),
        "estate_directory": "out",
        "estate_rules": "rules.yml",
        "estate_cluster": True,
    }
    printed = played(tmp_path, "virtshape.instancetypes.estate", variables=options, kubeconfig=cluster, fails=True)
    assert f"rules.namespace: '{namespace}x' is no namespace on the cluster; did you mean {namespace}" in printed
    assert "'u1.nanoo' is no instancetype in the catalog" in printed and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["catalog.yml", "virtual_machines.yml"])
def test_files_of_others_stay(tmp_path: Path, name: str) -> None:
    write_csv(tmp_path, {"vInfo": [["VM", "CPUs", "Memory"], ["web", 1, 1024]]})
    (tmp_path / "out").mkdir()
    own = tmp_path / "out" / name
    own.write_text("series: {web: {sizes: {small: {cpu: 1, memory: 1Gi}}}}\n")
    options = {"estate_source": str(tmp_path), "estate_directory": "out"}
    printed = played(tmp_path, "virtshape.instancetypes.estate", variables=options, kubeconfig="", fails=True)
    assert f"{own} is not of this playbook" in printed and "small" in own.read_text()
