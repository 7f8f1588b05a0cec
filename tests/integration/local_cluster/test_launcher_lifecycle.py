"""A cluster through its life, started and stopped by the launcher's command line.

These tests start clusters of their own, whatever KUBECONFIG says, as API servers without KubeVirt.
"""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config
from waiting import wait_until

from local_cluster.processes import started

pytestmark = pytest.mark.own_cluster
BROKEN_OFF = pytest.mark.nightly("a launcher that is killed; test_stop_ends_a_start breaks one off each day")
OWN_LIFE = pytest.mark.nightly("starts and stops more clusters; test_data_are_kept_when_requested does so each day")

Launch = Callable[..., dict[str, Any]]
START = ("start", "--no-kubevirt")


@pytest.fixture
def directory(tmp_path: Path, launch: Launch) -> Iterator[str]:
    """A state directory, whose cluster is removed after the test."""
    path = str(tmp_path / "cluster")
    yield path
    launch("stop", "--remove", "--dir", path)
    assert not Path(path).exists()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, launch: Launch) -> Iterator[dict[str, Any]]:
    """The result of the start of a cluster that the tests leave running; `directory` is its state directory."""
    path = str(tmp_path_factory.mktemp("running") / "cluster")
    yield {**launch(*START, "--dir", path), "directory": path}
    launch("stop", "--remove", "--dir", path)


def _control_plane(launch: Launch, directory: str) -> int:
    """The process number of the running control plane."""
    return int(launch("status", "--dir", directory)["processes"]["control-plane"])


def _core(directory: str) -> client.CoreV1Api:
    return client.CoreV1Api(config.new_client_from_config(f"{directory}/kubeconfig"))


def _namespaces(directory: str) -> set[str]:
    return {item.metadata.name for item in _core(directory).list_namespace().items}


def _listening(pid: int) -> set[str]:
    """The addresses, as /proc/net/tcp writes them, on which the process `pid` listens."""
    sockets = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
    addresses = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                addresses.add(fields[1])
    return addresses


def _begin(*arguments: str) -> subprocess.Popen[str]:
    """A launcher that works beside the test."""
    return subprocess.Popen(
        [sys.executable, "-m", "local_cluster", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def test_cluster_reports_its_kubernetes_version(launch: Launch, running: dict[str, Any]) -> None:
    assert running["changed"]
    assert running["state"] == launch("status", "--dir", running["directory"])["state"] == "running"
    with config.new_client_from_config(running["kubeconfig"]) as connection:
        assert connection.configuration.host == running["server"]
        assert client.VersionApi(connection).get_code().git_version == running["kubernetes_version"]


def test_a_second_start_changes_nothing(launch: Launch, running: dict[str, Any]) -> None:
    pid = _control_plane(launch, running["directory"])
    kubeconfig = Path(running["kubeconfig"]).read_bytes()
    second = launch(*START, "--dir", running["directory"])
    assert not second["changed"]
    assert second["server"] == running["server"]
    assert _control_plane(launch, running["directory"]) == pid
    assert Path(running["kubeconfig"]).read_bytes() == kubeconfig


def test_files_are_private_to_their_owner(running: dict[str, Any]) -> None:
    root = Path(running["directory"])
    modes = {path: stat.S_IMODE(path.lstat().st_mode) for path in [root, *root.rglob("*")] if path.exists()}
    assert (root / "kubeconfig") in modes
    assert {path: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_api_server_listens_on_one_loopback_port(launch: Launch, running: dict[str, Any]) -> None:
    port = int(running["server"].rpartition(":")[2])
    # 127.0.0.1 as the kernel writes it: the bytes in the machine's order
    loopback = f"{int.from_bytes(socket.inet_aton('127.0.0.1'), sys.byteorder):08X}"
    assert _listening(_control_plane(launch, running["directory"])) == {f"{loopback}:{port:04X}"}


def test_requests_without_token_are_refused(running: dict[str, Any]) -> None:
    content = yaml.safe_load(Path(running["kubeconfig"]).read_text())
    for user, status in (({"token": "x" * 43}, 401), ({}, 403)):
        content["users"][0]["user"] = user
        with config.new_client_from_config_dict(content) as connection, pytest.raises(client.ApiException) as refused:
            client.CoreV1Api(connection).list_namespace()
        assert refused.value.status == status


def test_the_controllers_work(running: dict[str, Any]) -> None:
    """Owned objects go with their owner; a namespace ends with its objects."""
    core = _core(running["directory"])
    core.create_namespace({"metadata": {"name": "owning"}})
    owner = core.create_namespaced_config_map("owning", {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid}
    core.create_namespaced_config_map("owning", {"metadata": {"name": "owned", "ownerReferences": [reference]}})
    core.delete_namespaced_config_map("owner", "owning")
    wait_until(lambda: "owned" not in [item.metadata.name for item in core.list_namespaced_config_map("owning").items])
    core.delete_namespace("owning")
    wait_until(lambda: "owning" not in [item.metadata.name for item in core.list_namespace().items])


@OWN_LIFE
def test_stop_leaves_only_the_kubeconfig(launch: Launch, directory: str) -> None:
    first = launch(*START, "--dir", directory)
    _core(directory).create_namespace({"metadata": {"name": "one"}})
    pid = _control_plane(launch, directory)
    kubeconfig = Path(directory, "kubeconfig").read_bytes()
    assert launch("stop", "--dir", directory)["changed"]
    assert started(pid) is None
    assert launch("status", "--dir", directory)["state"] == "stopped"
    assert not launch("stop", "--dir", directory)["changed"]
    again = launch(*START, "--dir", directory)
    assert again["server"] == first["server"]
    assert Path(directory, "kubeconfig").read_bytes() == kubeconfig
    assert "one" not in _namespaces(directory)


def test_data_are_kept_when_requested(launch: Launch, directory: str) -> None:
    launch(*START, "--dir", directory)
    _core(directory).create_namespace({"metadata": {"name": "one"}})
    launch("stop", "--keep-data", "--dir", directory)
    assert not launch("stop", "--keep-data", "--dir", directory)["changed"]
    launch(*START, "--dir", directory)
    assert "one" in _namespaces(directory)


def test_killed_control_plane_restarts_with_its_data(launch: Launch, directory: str) -> None:
    launch(*START, "--dir", directory)
    _core(directory).create_namespace({"metadata": {"name": "one"}})
    pid = _control_plane(launch, directory)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: started(pid) is None)
    # The supervisor starts it again, if not the launcher.
    assert launch(*START, "--dir", directory)["state"] == "running"
    assert _control_plane(launch, directory) != pid
    assert "one" in _namespaces(directory)


@pytest.mark.nightly("waits until the launcher gives up a process")
def test_a_frozen_control_plane_is_replaced(launch: Launch, directory: str) -> None:
    launch(*START, "--dir", directory)
    pid = _control_plane(launch, directory)
    os.kill(pid, signal.SIGSTOP)
    result = launch(*START, "--dir", directory)
    assert result["reason"] == "the API server is not ready"
    assert started(pid) is None
    assert _control_plane(launch, directory) != pid


@pytest.mark.nightly("a rare failure: needs a cluster that is started twice")
def test_cluster_starts_after_data_corruption(launch: Launch, directory: str) -> None:
    launch(*START, "--dir", directory)
    os.kill(_control_plane(launch, directory), signal.SIGKILL)
    (Path(directory) / "etcd" / "member" / "snap" / "db").write_bytes(b"not a database" * 4096)
    assert launch(*START, "--dir", directory)["state"] == "running"
    assert "default" in _namespaces(directory)


@OWN_LIFE
def test_unreadable_kept_data_are_an_error(launch: Launch, directory: str) -> None:
    launch(*START, "--dir", directory)
    launch("stop", "--keep-data", "--dir", directory)
    database = Path(directory) / "etcd" / "member" / "snap" / "db"
    database.write_bytes(b"not a database" * 4096)
    result = launch(*START, "--dir", directory, check=False)
    assert result["failed"]
    assert "the API server ended while starting" in result["msg"]
    assert database.read_bytes() == b"not a database" * 4096
    assert launch("status", "--dir", directory)["state"] == "stopped"


@OWN_LIFE
def test_occupied_port_is_avoided_unless_requested(launch: Launch, directory: str) -> None:
    port = int(launch(*START, "--dir", directory)["server"].rpartition(":")[2])
    launch("stop", "--dir", directory)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        refused = launch(*START, "--api-port", str(port), "--dir", directory, check=False)
        assert refused["msg"].startswith(f"api_port: 127.0.0.1:{port} is taken")
        assert launch(*START, "--dir", directory)["server"] != f"https://127.0.0.1:{port}"
    requested = launch(*START, "--api-port", str(port), "--dir", directory)
    assert requested["server"] == f"https://127.0.0.1:{port}"
    assert requested["reason"] == "the settings changed"


@OWN_LIFE
def test_two_clusters_run_side_by_side(launch: Launch, directory: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    try:
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda path: launch(*START, "--dir", path), (directory, other)))
        assert len({result["server"] for result in results}) == 2
        _core(directory).create_namespace({"metadata": {"name": "one"}})
        assert "one" not in _namespaces(other)
        # One cluster's token is worth nothing on the other.
        mixed, of_other = (yaml.safe_load(Path(path, "kubeconfig").read_text()) for path in (directory, other))
        mixed["users"][0]["user"] = of_other["users"][0]["user"]
        with config.new_client_from_config_dict(mixed) as connection, pytest.raises(client.ApiException) as refused:
            client.CoreV1Api(connection).list_namespace()
        assert refused.value.status == 401
    finally:
        launch("stop", "--remove", "--dir", other)
    assert launch("status", "--dir", directory)["state"] == "running"


def test_concurrent_starts_start_one_cluster(launch: Launch, directory: str) -> None:
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda _: launch(*START, "--dir", directory), range(3)))
    assert sorted(result["changed"] for result in results) == [False, False, True]
    assert len({result["server"] for result in results}) == 1


@pytest.mark.parametrize(
    "moment", [pytest.param("before the processes", marks=BROKEN_OFF), "while the API server starts"]
)
def test_stop_ends_a_start(launch: Launch, directory: str, moment: str) -> None:
    run = Path(directory, "run")
    waited_for = {
        "before the processes": run / "launcher.process.json",
        "while the API server starts": run / "control-plane.process.json",
    }[moment]
    starting = _begin(*START, "--dir", directory)
    wait_until(waited_for.exists)
    assert launch("stop", "--dir", directory)["changed"]
    output, _unused = starting.communicate(timeout=180)
    assert starting.returncode == 130
    assert json.loads(output)["msg"] == "ended by SIGTERM"
    assert launch("status", "--dir", directory)["state"] == "stopped"
    assert list(run.glob("*.process.json")) == []


@BROKEN_OFF
@pytest.mark.parametrize("command", [("stop",), START])
def test_processes_of_a_killed_launcher_are_stopped(launch: Launch, directory: str, command: tuple[str, ...]) -> None:
    starting = _begin(*START, "--dir", directory)
    record = Path(directory, "run", "control-plane.process.json")
    wait_until(record.exists)
    pid = json.loads(record.read_text())["pid"]
    starting.kill()
    starting.communicate()
    assert started(pid) is not None
    assert launch(*command, "--dir", directory)["changed"]
    assert started(pid) is None
    state = "running" if command == START else "stopped"
    assert launch("status", "--dir", directory)["state"] == state


def test_namespaces_are_created_on_a_running_cluster(launch: Launch, running: dict[str, Any]) -> None:
    entry, two, where = ("--namespace", "one"), ("--namespace", "two"), ("--dir", running["directory"])
    pid = _control_plane(launch, running["directory"])
    assert launch(*START, *entry, *two, "--check", *where)["changed"]
    assert launch(*START, *entry, *two, *where)["changed"]
    assert not launch(*START, *two, *where)["changed"]
    assert {"one", "two"} < _namespaces(running["directory"])
    assert _control_plane(launch, running["directory"]) == pid
    refused = launch(*START, "--namespace", "Two", *where, check=False)
    assert refused["msg"].startswith("namespaces: 'Two' cannot name a namespace")


def test_check_changes_nothing(launch: Launch, running: dict[str, Any], tmp_path: Path) -> None:
    absent, where = tmp_path / "cluster", ("--dir", running["directory"])
    assert launch(*START, "--check", "--dir", str(absent))["changed"]
    assert not absent.exists()
    pid = _control_plane(launch, running["directory"])
    assert not launch(*START, "--check", *where)["changed"]
    assert launch("stop", "--check", *where)["changed"]
    assert launch("stop", "--remove", "--check", *where)["changed"]
    assert _control_plane(launch, running["directory"]) == pid


def test_foreign_directory_is_left_alone(launch: Launch, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.write_text("mine")
    refused = launch(*START, "--dir", str(tmp_path), check=False)
    assert "contains files of something else" in refused["msg"]
    assert not launch("stop", "--remove", "--dir", str(tmp_path))["changed"]
    assert list(tmp_path.iterdir()) == [notes]
