"""state: rendered of the modules that declare objects: no connection, and files that change only with their content."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from modules_support import execute, warned

Manifest = dict[str, Any]

VM = {"name": "web", "namespace": "shop", "instancetype": "u1.small"}
SIZE = {"name": "small", "cpu": {"guest": 1}, "memory": {"guest": "1024Mi"}}
PASSWORD = "correct-horse"


Render = Callable[..., Manifest]


@pytest.mark.parametrize(
    ("module", "options", "kind"),
    [
        ("virtual_machine", VM, "VirtualMachine"),
        ("instancetype", SIZE, "VirtualMachineClusterInstancetype"),
        ("preference", {"name": "os", "namespace": "shop"}, "VirtualMachinePreference"),
    ],
)
@pytest.mark.parametrize("where", [{}, {"host": "https://127.0.0.1:1", "api_key": "wrong-token", "wait": True}])
def test_nothing_is_asked(render: Render, module: str, options: Manifest, kind: str, where: Manifest) -> None:
    result = render(module, **options, **where)
    assert [manifest["kind"] for manifest in result["rendered"]] == [kind]
    assert not result["changed"]
    assert result["msg"] == f"1 {module.replace('_', ' ')} rendered"
    assert (result["result"]["action"], result["result"]["changed"]) == ("none", False)


def test_manifest_is_that_of_a_new_object(render: Render) -> None:
    assert render("instancetype", **SIZE)["rendered"][0]["spec"]["memory"] == {"guest": "1Gi"}
    vm = render("virtual_machine", name="web", boot={"pvc": "disk"})["rendered"][0]
    # The tool that applies it may have a namespace.
    assert vm["metadata"] == {"name": "web"}
    assert vm["spec"]["runStrategy"] == "Always"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kubevirt_version": "1.3"}, "kubevirt_version: KubeVirt 1.3 is not supported;"),
        ({"cloud_init": {"password": PASSWORD}}, "cloud_init.password: may be secret,"),
        ({"memory": "much"}, "memory: 'much' is not a quantity;"),
        ({"dest": "/dev/null/x.yaml"}, "dest: /dev/null/x.yaml: Not a directory; name a folder,"),
    ],
)
def test_what_cannot_be_rendered_is_one_line(render: Render, options: Manifest, message: str) -> None:
    result = render("virtual_machine", **{"name": "web", "namespace": "shop", **options})
    assert result["failed"] and message in result["msg"], result
    assert PASSWORD not in str(result)


def test_a_task_renders_all_entries_or_none(render: Render) -> None:
    result = render(
        "virtual_machine", namespace="shop", virtual_machines=[{"name": "a"}, {"name": "b", "state": "absent"}]
    )
    assert result["msg"] == (
        "virtual_machines[1] (shop/b): state is absent, but others of the task are rendered; set state: rendered for"
        " all or for none"
    )
    result = execute("virtual_machine", {**VM, "dest": "/tmp/x"})
    assert result["msg"] == "dest: only valid with state rendered"


def test_option_of_the_task_in_an_entry(render: Render) -> None:
    for option, value in (("kubevirt_version", "1.9"), ("wait", True), ("host", "https://example.com")):
        result = render("virtual_machine", virtual_machines=[{"name": "a"}, {"name": "b", option: value}])
        assert result["msg"] == (
            f"virtual_machines[1] (b): {option}: an option of the whole task; move it out of virtual_machines"
        )
    result = render("virtual_machine", virtual_machines=[{"name": "a"}], defaults={"wait": True})
    assert result["msg"] == "virtual_machines[0] (a): wait: an option of the whole task; move it out of defaults"


def test_only_files_with_other_content_are_written(render: Render, tmp_path: Path) -> None:
    fleet: Manifest = {"virtual_machines": [{"name": "web"}, {"name": "db"}], "namespace": "shop"}
    folder = tmp_path / "fleet"
    foreseen = render("virtual_machine", check=True, dest=str(folder), **fleet)
    assert foreseen["changed"] and not folder.exists()
    assert foreseen["msg"] == "2 virtual machines rendered; 2 of 2 files would be written"

    first = render("virtual_machine", dest=str(folder), **fleet)
    web, db = folder / "shop_virtualmachine_web.yaml", folder / "shop_virtualmachine_db.yaml"
    assert first["files"] == [str(web), str(db)]
    assert [yaml.safe_load(Path(path).read_text()) for path in first["files"]] == first["rendered"]
    os.utime(web, (1, 1))
    again = render("virtual_machine", dest=str(folder), **fleet)
    assert (again["changed"], again["diff"], web.stat().st_mtime) == (False, [], 1)

    fleet["virtual_machines"][1]["labels"] = {"tier": "db"}
    changed = render("virtual_machine", dest=str(folder), **fleet)
    assert changed["msg"] == "2 virtual machines rendered; 1 of 2 files written"
    (diff,) = changed["diff"]
    assert diff["before_header"] == str(db)
    assert ("tier: db" in diff["before"], "tier: db" in diff["after"]) == (False, True)
    assert web.stat().st_mtime == 1


def test_nothing_is_written_if_one_entry_fails(render: Render, tmp_path: Path) -> None:
    entries = [{"name": "web"}, {"name": "db", "cloud_init": {"password": PASSWORD}}, {"name": "x", "memory": "much"}]
    result = render("virtual_machine", namespace="shop", virtual_machines=entries, dest=str(tmp_path))
    assert result["msg"].startswith("2 of 3 virtual machines failed: shop/db: cloud_init.password: ")
    assert (list(tmp_path.iterdir()), result["rendered"], result["changed"]) == ([], [], False)


def test_one_file_has_all_objects(render: Render, tmp_path: Path) -> None:
    dest = tmp_path / "all.yml"
    fleet = [{"name": name, "namespace": "shop"} for name in ("web", "db")]
    result = render("virtual_machine", virtual_machines=fleet, dest=str(dest))
    assert list(yaml.safe_load_all(dest.read_text())) == result["rendered"]
    assert result["files"] == [str(dest)]
    assert render("virtual_machine", virtual_machines=[], dest=str(dest))["changed"]
    assert dest.read_text() == ""


def test_kept_secrets_are_in_files_alone(render: Render, tmp_path: Path) -> None:
    dest = tmp_path / "web.yaml"
    dest.write_text(f"{{apiVersion: kubevirt.io/v1, kind: V, metadata: {{name: web}}, userData: {PASSWORD}-2}}")
    result = render("virtual_machine", **VM, cloud_init={"password": PASSWORD}, dest=str(dest), keep_secrets=True)
    assert PASSWORD in dest.read_text()
    assert PASSWORD not in str(result)
    assert "userData: (hidden" in result["diff"][0]["after"]
    assert len(warned(result)) == 1
    dest.write_text(f"[{PASSWORD}")
    result = render("virtual_machine", **VM, dest=str(dest))
    assert result["failed"] and PASSWORD not in str(result)


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- hosts: all\n", "something else than manifests"),
        ("<<<<<<< HEAD\n", "something else than manifests"),
        ("fleet_size: 3\n", "something else than manifests"),
        ("{apiVersion: v1, kind: Service, metadata: {name: web}}", "Service web"),
        ("{apiVersion: instancetype.kubevirt.io/v1, kind: VirtualMachinePreference, metadata: {name: os}}",
         "VirtualMachinePreference os"),
    ],
)  # fmt: skip
def test_files_of_others_stay(render: Render, tmp_path: Path, text: str, found: str, check: bool) -> None:
    for dest, file in ((tmp_path / "all.yml",) * 2, (tmp_path, tmp_path / "shop_virtualmachine_web.yaml")):
        file.write_text(text)
        result = render("virtual_machine", **VM, dest=str(dest), check=check)
        assert result["msg"] == (
            f"dest: {file}: has {found}, which this task does not render; name another file, or delete it"
        )
        assert file.read_text() == text
    empty = render("virtual_machine", virtual_machines=[], dest=str(tmp_path / "all.yml"), check=check)
    assert empty.get("failed", False) == (found == "something else than manifests")


def test_tasks_do_not_replace_each_others_files(render: Render, tmp_path: Path) -> None:
    dest = str(tmp_path / "all.yaml")
    render("instancetype", **SIZE, dest=dest)
    assert "has VirtualMachineClusterInstancetype small" in render("virtual_machine", **VM, dest=dest)["msg"]
    assert "has VirtualMachineClusterInstancetype small" in render("preference", name="os", dest=dest)["msg"]
    assert render("instancetype", **{**SIZE, "name": "other"}, dest=dest)["changed"]
    own = tmp_path / "shop_virtualmachine_web.yaml"
    render("virtual_machine", **VM, dest=str(tmp_path))
    own.write_text(f"{own.read_text()}---\n{own.read_text().replace('name: web', 'name: db')}")
    assert "has VirtualMachine db" in render("virtual_machine", **VM, dest=str(tmp_path), labels={"a": "b"})["msg"]


def test_texts_stay_texts_for_every_parser(render: Render, tmp_path: Path) -> None:
    texts = ["1e3", "0o17", "010", "y", "N", "on", "1_000", "null", "~", "-", "2026-01-01", "+.5", "0x1f", "a: b"]
    data = "#cloud-config\nuser: me\n"
    dest = tmp_path / "web.yaml"
    annotations = {f"k{index}": text for index, text in enumerate(texts)}
    render("virtual_machine", **VM, annotations={**annotations, "many": data}, dest=str(dest))
    text = dest.read_text()
    assert yaml.safe_load(text)["metadata"]["annotations"] == {**annotations, "many": data}
    for value in texts[:-1]:
        assert f": '{value}'\n" in text
    assert "many: |\n" in text


def test_rendered_vms_are_held_against_each_other(render: Render) -> None:
    disk = {"name": "c", "import": {"blank": True, "size": "1Gi"}}
    both = [{"name": "a-b", "volumes": [disk]}, {"name": "a", "volumes": [{**disk, "name": "b-c"}]}]
    result = render("virtual_machine", namespace="shop", virtual_machines=both)
    assert result["failed"] and result["rendered"] == []
    assert all("shop/a-b and shop/a make the same DataVolume a-b-c" in item["msg"] for item in result["results"])
    shared = [{"name": "a"}, {"name": "b"}]
    result = render("virtual_machine", namespace="shop", boot={"pvc": "data"}, virtual_machines=shared)
    assert not result.get("failed") and len(result["rendered"]) == 2
    assert any("shop/a and shop/b use the disk data" in warning for warning in warned(result))
