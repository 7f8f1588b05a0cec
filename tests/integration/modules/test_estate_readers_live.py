"""estate_info reads live platforms by their own client libraries.

vCenter is govmomi's simulator, Proxmox is fakepve, which others make from the schema of its API, and OpenStack is
scripted. KubeVirt is the real one.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from estate_samples import proposed
from openstack_api import PASSWORD, SERVERS, openstack_api

from local_cluster.toolchain import find_go
from modules_support import Task, execute
from plugins.module_utils._estate.readers.reading import TPM_STATE

CHECKOUT = Path(__file__).parents[3]
# Users install them for the platforms that they have.
LIBRARIES = ("openstacksdk==4.22.0", "proxmoxer==2.3.0", "pyvmomi==9.1.1.0", "requests", "fakepve[crypto]==0.5.0")
GIB = 1 << 30
MIB = 1 << 20
nightly = pytest.mark.nightly("installs the client libraries of other platforms")


@pytest.fixture(scope="module")
def libraries() -> Iterator[Path]:
    """The libraries, installed beside those that all tests have."""
    folder = CHECKOUT / ".cache" / "estate-libraries"
    install = ["uv", "pip", "install", "--quiet", "--python", sys.executable]
    subprocess.run([*install, "--target", str(folder), *LIBRARIES], check=True)
    sys.path.append(str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def vcenter(libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A vCenter with 500 machines: its address, and their sizes by name."""
    program = tmp_path_factory.mktemp("vcenter") / "vcenter"
    subprocess.run([find_go((1, 26)), "build", "-o", str(program), "."], cwd=CHECKOUT / "tests" / "vcenter", check=True)
    with subprocess.Popen([program, "500"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.stdin.close()


@nightly
def test_machines_of_a_vcenter(vcenter: dict[str, Any]) -> None:
    login = {"source": vcenter["address"], "source_username": "reader"}
    result = execute("estate_info", {**login, "source_password": "secret"})
    assert not result.get("failed"), result
    found = {item["name"]: (item["vcpus"], item["memory"] // MIB) for item in result["machines"]}
    assert found == {name: (size["cpus"], size["memory"]) for name, size in vcenter["sizes"].items()}
    assert len(found) == 500 and result["kind"] == "vsphere"
    assert {nic["network"] for item in result["machines"] for nic in item["nics"]} == {"DC0_DVPG0"}
    assert "secret" not in json.dumps(result)
    rows = proposed(result["machines"])["machines"]
    assert all(row["guest"]["memory"] >= row["source"]["memory"] for row in rows)
    # Without a password, the server does not let one in.
    refused = execute("estate_info", login)
    assert refused["failed"] and refused["msg"].startswith(f"source: '{vcenter['address']}': ")


@pytest.fixture
def clouds(libraries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """clouds.yaml with the clouds `mine` and `wrong`, which has another password."""
    with openstack_api() as address:
        auth = {"auth_url": address, "username": "reader", "project_name": "shop", "user_domain_name": "Default"}
        auth["project_domain_name"] = "Default"
        known = {
            name: {"auth": {**auth, "password": password}, "region_name": "one"}
            for name, password in (("mine", PASSWORD), ("wrong", "other"))
        }
        (tmp_path / "clouds.yaml").write_text(yaml.safe_dump({"clouds": known}))
        monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
        yield


@nightly
@pytest.mark.usefixtures("clouds")
def test_servers_of_a_cloud() -> None:
    result = execute("estate_info", {"source": "cloud:mine"})
    assert not result.get("failed"), result
    assert (result["kind"], result["remarks"], len(result["machines"])) == ("openstack", [], len(SERVERS))
    first, second, third = result["machines"]
    assert (first["vcpus"], first["memory"], first["power"], first["folder"]) == (1, GIB, "off", "p1")
    assert first["guest"] == {"distro": "rhel", "version": "9.4"}
    assert (first["firmware"], first["secure_boot"], first["tpm"]) == ("efi", True, True)
    assert first["disks"] == [{"name": "root", "size": 20 * GIB, "storage": "ephemeral"}]
    assert first["nics"] == [{"network": "lan", "mac": "fa:16:3e:00:00:00"}]
    assert (second["reserved"], second["power"]) == ({"cpu": True}, "on")
    # It boots from a volume.
    assert third["disks"] == [{"id": "v1", "name": "root", "size": 40 * GIB, "storage": "ssd"}]
    assert all(row["guest"]["memory"] >= row["source"]["memory"] for row in proposed(result["machines"])["machines"])


@nightly
@pytest.mark.usefixtures("clouds")
def test_clouds_that_do_not_let_in() -> None:
    wrong = execute("estate_info", {"source": "cloud:wrong"})
    assert wrong["failed"] and wrong["msg"].startswith("source: 'cloud:wrong': The request you have made requires auth")
    missing = execute("estate_info", {"source": "cloud:none"})
    assert missing["failed"] and missing["msg"] == "source: 'cloud:none': Cloud none was not found."


@pytest.fixture
def proxmox(libraries: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a Proxmox with two nodes."""
    web = {
        "cores": 4,
        "sockets": 2,
        "memory": "8192",
        "ostype": "win11",
        "bios": "ovmf",
        "scsihw": "virtio-scsi-pci",
        "efidisk0": "local-lvm:vm-100-disk-1,pre-enrolled-keys=1,size=4M",
        "tpmstate0": "local-lvm:vm-100-disk-2,size=4M",
        "scsi0": "local-lvm:vm-100-disk-0,size=32G",
        "net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=7",
    }
    guests = [
        {"vmid": 100, "name": "web", "node": "pve1", "status": "running", "config": web},
        {"vmid": 101, "name": "db", "node": "pve2", "config": {"cores": 2, "memory": "2048", "ostype": "l26"}},
        {"vmid": 102, "name": "model", "node": "pve1", "template": True, "config": {"memory": "512"}},
        {"vmid": 103, "name": "container", "type": "lxc"},
    ]
    (tmp_path / "guests.json").write_text(json.dumps({"guests": guests}))
    command = [sys.executable, "-m", "fakepve", str(tmp_path / "guests.json"), "--host", "127.0.0.1", "--port", "0"]
    environment = {"PYTHONPATH": str(libraries), "PATH": ""}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.terminate()


@nightly
def test_machines_of_proxmox(proxmox: str) -> None:
    login = {"source": proxmox, "kind": "proxmox", "source_username": "root@pam", "source_validate_certs": False}
    result = execute("estate_info", {**login, "source_password": "secret"})
    assert not result.get("failed"), result
    web, database = result["machines"]
    assert web == {
        "id": "100",
        "name": "web",
        "power": "on",
        "vcpus": 8,
        "cores_per_socket": 4,
        "memory": 8 * GIB,
        "firmware": "efi",
        "secure_boot": True,
        "tpm": True,
        "guest": {"id": "win11"},
        "disks": [{"name": "scsi0", "size": 32 * GIB, "storage": "local-lvm", "controller": "virtio-scsi-pci"}],
        "nics": [{"network": "vmbr0.7", "mac": "bc:24:11:00:00:01", "model": "virtio", "connected": True}],
        "not_brought": [TPM_STATE],
    }
    assert (database["id"], database["vcpus"], database["memory"], database["power"]) == ("101", 2, 2 * GIB, "off")
    assert result["left_out"] == {"templates": 1, "containers": 1}
    assert result["remarks"] == ["containers of LXC are no machines and are not brought: container"]
    refused = execute("estate_info", {**login, "source_password": "wrong"})
    assert refused["failed"] and refused["msg"].startswith(f"source: '{proxmox}': ")
    unknown = execute("estate_info", {**login, "source_password": "secret", "source_validate_certs": True})
    assert unknown["failed"] and "certificate" in unknown["msg"].lower()
    closed = execute("estate_info", {**login, "source": "https://127.0.0.1:9", "source_password": "secret"})
    assert closed["failed"] and closed["msg"].startswith("source: 'https://127.0.0.1:9': ")


def test_vms_of_a_cluster(task: Task, namespace: str) -> None:
    vms: list[dict[str, Any]] = [
        {
            "name": "own",
            "memory": "1536Mi",
            "cpu": {"cores": 2},
            "efi": {"secure_boot": False},
            "labels": {"team": "web"},
        },
        {"name": "typed", "instancetype": {"name": "u1.large"}, "preference": {"name": "fedora"}, "tpm": {}},
    ]
    task("virtual_machine", run_strategy="Halted", virtual_machines=vms)
    result = task("estate_info", source="cluster")
    own, typed = result["machines"]
    assert (own["id"], own["vcpus"], own["memory"]) == (f"{namespace}/own", 2, 1536 * MIB)
    assert (own["firmware"], own["secure_boot"], own["tags"], own["power"]) == ("efi", False, {"team": "web"}, "off")
    assert (typed["vcpus"], typed["memory"], typed["tpm"], typed["secure_boot"]) == (2, 8 * GIB, True, True)
    assert (typed["instancetype"], typed["preference"]) == ("u1.large", "fedora")
    assert "instancetype" not in own
