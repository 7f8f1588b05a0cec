"""Requirements of guests that QEMU runs, their consoles, and their end."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from local_cluster import guests, processes
from local_cluster.build import Programs, ProgramSet
from local_cluster.cluster import Settings
from local_cluster.errors import LauncherError
from local_cluster.paths import Layout


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of programs, in which all of QEMU's are."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in guests.PROGRAMS:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o700)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "cluster")
    for uid, name in {"1": "default/web", "2": "default/db", "3": "other/db"}.items():
        (layout.guests / uid).mkdir(parents=True)
        (layout.guests / uid / "name").write_text(name)
        (layout.guests / uid / "console.log").write_text(f"console of {name}")
    return layout


def refused(kind: str = "qemu", kubevirt: bool = True, **images: str) -> str:
    with pytest.raises(LauncherError) as caught:
        guests.check(kind, images, kubevirt=kubevirt)
    return str(caught.value)


def test_missing_programs_are_named_with_packages(programs: Path) -> None:
    guests.check("qemu", {}, kubevirt=True)
    (programs / "qemu-img").unlink()
    assert refused() == (
        "guests: this machine lacks qemu-img; install them (on Debian: apt install qemu-utils), "
        "or set guests to simulated"
    )


@pytest.mark.usefixtures("programs")
def test_images_must_be_readable_files(tmp_path: Path) -> None:
    assert refused(fedora=str(tmp_path)) == f"images: fedora: {tmp_path} is no readable file; name an image that exists"
    assert "images: fedora: /none is no readable file" in refused(fedora="/none")


def test_options_that_do_not_fit_are_refused() -> None:
    assert refused("simulated", fedora="/x").startswith("images: only guests of QEMU have images")
    assert refused(kubevirt=False).startswith("guests: the cluster has no KubeVirt")
    guests.check("simulated", {}, kubevirt=False)


def test_files_of_images_get_whole_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert guests.absolute({"a": "~/x", "b": "x"}) == {"a": f"{tmp_path}/x", "b": f"{tmp_path}/x"}


def test_program_for_guests_is_built_only_on_request() -> None:
    simulated, real = Settings("a").programs(), Settings("a", guests="qemu").programs()
    assert [part.packages for part in real.parts()] == [*(part.packages for part in simulated.parts()), _GUEST]
    assert real.guest() == Programs("go.mod", guest=True).folder / "guest"
    assert real.guest().parent not in map(Path, simulated.folders())


_GUEST = {"guest": "./guest"}


def test_older_kubevirt_shares_the_program_for_guests() -> None:
    version = Settings("a").kubernetes_version
    assert ProgramSet(version, "1.8.4", guests=True).guest() == ProgramSet(version, "1.9.0", guests=True).guest()


@pytest.mark.parametrize("name", ["web", "default/web"])
def test_console_log_is_found_by_name(layout: Layout, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    guests.console(layout, name, log=True)
    assert capsys.readouterr().out == "console of default/web"


@pytest.mark.parametrize(
    ("name", "what"), [("db", "several guests are called db"), ("x", "no guest of QEMU is called x")]
)
def test_unclear_names_list_the_guests(layout: Layout, name: str, what: str) -> None:
    with pytest.raises(LauncherError, match=re.escape("guests that run: default/db, default/web, other/db")) as caught:
        guests.console(layout, name, log=True)
    assert what in str(caught.value)


def test_console_passes_bytes_both_ways(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(layout.guests / "1")
        server.bind("console.sock")
        server.listen()

        def answer() -> None:
            connection, _address = server.accept()
            with connection:
                connection.sendall(b"got " + connection.recv(100))

        peer = threading.Thread(target=answer)
        peer.start()
        command = [sys.executable, "-m", "local_cluster", "console", "web", "--dir", str(layout.root)]
        environment = {**os.environ, "PYTHONPATH": str(Path(guests.__file__).parent.parent)}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as console:
            assert console.stdin is not None and console.stdout is not None
            console.stdin.write(b"hello")
            console.stdin.flush()
            assert console.stdout.read() == b"got hello"
        peer.join()


def test_guests_left_behind_are_ended(layout: Layout) -> None:
    sleep = shutil.which("sleep")
    assert sleep is not None
    with subprocess.Popen([sleep, "600"], start_new_session=True) as left:
        processes.record(layout.guests / "1" / "qemu.json", left.pid)
        guests.stop_all(layout)
        assert left.wait() < 0
