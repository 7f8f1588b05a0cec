"""Ports, locks and the state directory."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_cluster import control_plane, data, ports
from local_cluster.errors import LauncherError
from local_cluster.locking import Lock
from local_cluster.paths import Layout, check_name, default_state_dir, read_json, write_json


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.socket() as server:
        server.bind((ports.HOST, 0))
        server.listen()
        yield int(server.getsockname()[1])


def test_a_chosen_port_can_be_listened_on() -> None:
    with socket.socket() as server:
        server.bind((ports.HOST, ports.choose()))
        server.listen()


def test_preferred_port_is_chosen_while_free(taken: int) -> None:
    free = ports.choose()
    assert ports.choose(free) == free
    assert not ports.is_free(taken)
    other = ports.choose(taken)
    assert other != taken
    assert ports.is_free(other)


def test_lock_has_one_holder_at_a_time(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    first.acquire()
    assert second.is_held()

    class GaveUp(Exception):
        pass

    def give_up(seconds: float) -> None:
        raise GaveUp

    with pytest.raises(GaveUp):
        second.acquire(give_up)
    first.release()
    assert not second.is_held()
    second.acquire(give_up)
    second.release()


def test_lock_removed_with_its_directory_is_acquired_anew(tmp_path: Path) -> None:
    """A launcher that waited for a removed cluster must not work under a lock that nobody else can see."""
    first, second, third = (Lock(tmp_path / "cluster" / "lock") for _unused in range(3))
    first.acquire()

    def remove(seconds: float) -> None:
        (tmp_path / "cluster" / "lock").unlink(missing_ok=True)
        first.release()

    second.acquire(remove)
    assert third.is_held()
    second.release()


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from local_cluster.locking import Lock\n"
        f"Lock(Path({str(tmp_path / 'lock')!r})).acquire(); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == -9
    assert (tmp_path / "lock").exists()
    assert not Lock(tmp_path / "lock").is_held()


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", "a/b", "..", "a" * 64])
def test_name_unfit_for_folder_or_context_is_refused(name: str) -> None:
    with pytest.raises(LauncherError, match="cannot name a cluster"):
        check_name(name)


def test_each_name_has_its_own_state_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_state_dir("a") == tmp_path / "virtshape" / "local-cluster" / "a"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert default_state_dir("b") == tmp_path / "home" / ".local" / "state" / "virtshape" / "local-cluster" / "b"


def test_directory_with_foreign_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("...")
    with pytest.raises(LauncherError, match="contains files of something else"):
        Layout(tmp_path).create()


def test_remove_deletes_only_files_of_the_launcher(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "cluster")
    layout.create()
    layout.lock.touch()
    layout.create_folders()
    data.place(layout.etcd, "disk")
    write_json(layout.cluster, {})
    layout.kubeconfig_faults.touch()
    (layout.etcd / "data").write_text("...")
    own = layout.root / "my-notes"
    own.write_text("...")
    layout.remove()
    assert list(layout.root.iterdir()) == [own]
    own.unlink()
    layout.create()
    layout.remove()
    assert not layout.root.exists()


def test_truncated_json_file_counts_as_missing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text('{"a":')
    assert read_json(tmp_path / "file") is None
    assert read_json(tmp_path / "missing") is None
    write_json(tmp_path / "file", {"a": 1})
    assert read_json(tmp_path / "file") == {"a": 1}


def test_servers_listen_on_loopback_and_etcd_on_sockets(tmp_path: Path) -> None:
    config = control_plane.config(Layout(tmp_path), 1234, schedules=True)
    assert config["etcd"]["clientURL"].startswith("unix:")
    assert config["etcd"]["peerURL"].startswith("unix:")
    assert {"--bind-address=127.0.0.1", "--secure-port=1234"} <= set(config["apiServer"])
    for part in ("controllerManager", "scheduler"):
        assert "--secure-port=0" in config[part]


def test_only_declared_nodes_have_a_scheduler(tmp_path: Path) -> None:
    assert control_plane.config(Layout(tmp_path), 1234, schedules=False)["scheduler"] == []
