"""state: rendered of the modules that declare objects: no connection, and files that change only with their content."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from modules_support import execute, warned

Manifest = dict[str, Any]

VM = {"name": "web", "namespace": "shop", "instancetype": "u1.small"}
SIZE = {"name": "small", "cpu": {"guest": 1}, "memory": {"guest": "1024Mi"}}
GUEST = {"spec": {"template": {"spec": {"domain": {"devices": {}}}}}}
TEMPLATE = {"name": "os", "namespace": "shop", "virtual_machine": {"metadata": {"name": "vm"}, **GUEST}}
DIGEST = f"sha256:{'0a' * 32}"
IMAGE = {"name": "os", "namespace": "shop", "image": f"quay.io/disks/os@{DIGEST}", "size": "5Gi"}
PASSWORD = "correct-horse"


@pytest.fixture(autouse=True)
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing names a cluster, and a connection is an error."""
    for name in [name for name in os.environ if name.startswith("K8S_AUTH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("KUBECONFIG", "/none")
    refused = mock.Mock(side_effect=AssertionError("a connection"))
    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


@pytest.fixture
def render() -> Callable[..., Manifest]:
    """render(module, check=False, **options): the result of the module with state rendered."""

    def rendered(module: str, /, *, check: bool = False, **options: Any) -> Manifest:
        return execute(module, {"state": "rendered", **options}, check=check)

    return rendered


Render = Callable[..., Manifest]


@pytest.mark.parametrize(
    ("module", "options", "kinds"),
    [
        ("virtual_machine", VM, ["VirtualMachine"]),
        ("instancetype", SIZE, ["VirtualMachineClusterInstancetype"]),
        ("preference", {"name": "os", "namespace": "shop"}, ["VirtualMachinePreference"]),
        ("virtual_machine_template", TEMPLATE, ["VirtualMachineTemplate"]),
        ("boot_source", IMAGE, ["DataVolume", "DataSource"]),
        ("boot_source", {**IMAGE, "schedule": "0 1 * * *"}, ["DataImportCron"]),
        ("boot_source", {"name": "os", "namespace": "shop", "pvc": {"name": "disk"}}, ["DataSource"]),
        ("boot_source", {**IMAGE, "image": None, "url": "https://example.com/os.qcow2"}, ["DataVolume", "DataSource"]),
    ],
)
@pytest.mark.parametrize("where", [{}, {"host": "https://127.0.0.1:1", "api_key": "wrong-token", "wait": True}])
def test_nothing_is_asked(render: Render, module: str, options: Manifest, kinds: list[str], where: Manifest) -> None:
    given = {key: value for key, value in options.items() if value is not None}
    result = render(module, **given, **where)
    assert [manifest["kind"] for manifest in result["rendered"]] == kinds
    assert not result["changed"]
    assert result["msg"] == f"1 {module.replace('_', ' ')} rendered"
    assert (result["result"]["action"], result["result"]["changed"]) == ("none", False)


def test_manifest_is_that_of_a_new_object(render: Render) -> None:
    assert render("instancetype", **SIZE)["rendered"][0]["spec"]["memory"] == {"guest": "1Gi"}
    vm = render("virtual_machine", name="web", boot={"pvc": "disk"})["rendered"][0]
    # The tool that applies it may have a namespace.
    assert vm["metadata"] == {"name": "web"}
    assert vm["spec"]["runStrategy"] == "Always"
    volume, source = render("boot_source", **IMAGE)["rendered"]
    assert volume["metadata"]["name"] == source["spec"]["source"]["pvc"]["name"] == "os-0a0a0a0a0a0a"


@pytest.mark.parametrize(
    ("module", "options", "message"),
    [
        (
            "virtual_machine",
            {"workload": "fedora"},
            "workload: needs a connection, which state rendered does not",
        ),
        ("virtual_machine", {"infer_from_registry": True}, "infer_from_registry: needs a connection,"),
        ("virtual_machine", {"from_template": "os"}, "from_template: needs a connection,"),
        ("virtual_machine", {"kubevirt_version": "1.3"}, "kubevirt_version: KubeVirt 1.3 is not supported;"),
        ("virtual_machine", {"cloud_init": {"password": PASSWORD}}, "cloud_init.password: may be secret,"),
        ("virtual_machine_template", {**TEMPLATE, "kubevirt_version": "1.8"}, "kubevirt_version: KubeVirt has Virtual"),
        ("boot_source", {**IMAGE, "image": "quay.io/disks/os"}, "image: only the registry knows its digest;"),
        ("boot_source", {**IMAGE, "image": None, "upload": {"path": "/x"}}, "upload: sends a file to the cluster,"),
        ("boot_source", {**IMAGE, "namespace": None}, "namespace: required;"),
        ("boot_source", {**IMAGE, "schedule": "often"}, "CDI refuses the object: Illegal cron schedule"),
        ("virtual_machine", {"memory": "much"}, "memory: 'much' is not a quantity;"),
        ("virtual_machine", {"dest": "/dev/null/x.yaml"}, "dest: /dev/null/x.yaml: Not a directory; name a folder,"),
    ],
)
def test_what_cannot_be_rendered_is_one_line(render: Render, module: str, options: Manifest, message: str) -> None:
    given = {key: value for key, value in {**VM, "instancetype": None, **options}.items() if value is not None}
    result = render(module, **given)
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
    entries = [{"name": "web"}, {"name": "db", "workload": "fedora"}, {"name": "x", "memory": "much"}]
    result = render("virtual_machine", namespace="shop", virtual_machines=entries, dest=str(tmp_path))
    assert result["msg"].startswith("2 of 3 virtual machines failed: shop/db: workload: ")
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
    dest.write_text(f"spec: {{userData: {PASSWORD}-2}}")
    result = render("virtual_machine", **VM, cloud_init={"password": PASSWORD}, dest=str(dest), keep_secrets=True)
    assert PASSWORD in dest.read_text()
    assert PASSWORD not in str(result)
    assert "userData: (hidden" in result["diff"][0]["after"]
    assert len(warned(result)) == 1
    dest.write_text(f"[{PASSWORD}")
    result = render("virtual_machine", **VM, dest=str(dest))
    assert result["diff"][0]["before"] == "(not YAML)"


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
