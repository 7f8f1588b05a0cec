"""etcd's data lie on disk or in memory, and move with what is in them."""

import os
import shutil
import stat
from pathlib import Path
from typing import NamedTuple

import pytest

from local_cluster import data
from local_cluster.errors import LauncherError


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """The file system that stands for the one in memory."""
    path = tmp_path / "memory"
    path.mkdir()
    return path


def test_data_on_disk_is_a_folder(tmp_path: Path, memory: Path) -> None:
    etcd = tmp_path / "etcd"
    data.place(etcd, "disk", memory=memory)
    assert etcd.is_dir()
    assert not etcd.is_symlink()
    assert not data.present(etcd)
    assert list(memory.iterdir()) == []


def test_memory_data_is_linked_to_a_private_folder(tmp_path: Path, memory: Path) -> None:
    etcd = tmp_path / "etcd"
    data.place(etcd, "memory", memory=memory)
    (folder,) = memory.iterdir()
    assert etcd.readlink() == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    data.place(etcd, "memory", memory=memory)
    assert list(memory.iterdir()) == [folder]
    data.remove(etcd)
    assert list(memory.iterdir()) == []
    assert not os.path.lexists(etcd)


@pytest.mark.parametrize("places", [("disk", "memory"), ("memory", "disk")])
def test_data_moves_to_another_place(tmp_path: Path, memory: Path, places: tuple[str, str]) -> None:
    etcd = tmp_path / "etcd"
    data.place(etcd, places[0], memory=memory)
    (etcd / "member").mkdir()
    (etcd / "member" / "db").write_text("all")
    data.place(etcd, places[1], memory=memory)
    assert (etcd / "member" / "db").read_text() == "all"
    assert etcd.is_symlink() == (places[1] == "memory")
    assert len(list(memory.iterdir())) == (places[1] == "memory")
    assert {path.name for path in tmp_path.iterdir()} == {"etcd", "memory"}


def test_data_lost_with_the_memory_is_absent(tmp_path: Path, memory: Path) -> None:
    etcd = tmp_path / "etcd"
    data.place(etcd, "memory", memory=memory)
    shutil.rmtree(etcd.resolve())
    assert not data.present(etcd)
    data.place(etcd, "memory", memory=memory)
    assert etcd.is_dir()


def test_missing_memory_file_system_is_reported_with_remedy(tmp_path: Path) -> None:
    with pytest.raises(
        LauncherError, match=r"^data: this machine has no file system in memory at .*; set data to disk$"
    ):
        data.place(tmp_path / "etcd", "memory", memory=tmp_path / "missing")


def test_too_little_memory_is_refused_before_etcd_starts(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(64 * 2**20))
    with pytest.raises(LauncherError, match=r"has 64 MiB free, etcd needs 256; enlarge it, or set data to disk$"):
        data.place(tmp_path / "etcd", "memory", memory=memory)
    assert list(memory.iterdir()) == []
