"""Files are written completely or not at all."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plugins.module_utils._cluster.client.files import write_file


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Files that grow beyond this size, in bytes, fail as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "vm.yaml"
    path.write_text("old")
    with largest_file(100), pytest.raises(OSError, match=r"vm\.yaml") as error:
        write_file(path, "new" * 1000)
    assert error.value.filename == str(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_no_new_file(tmp_path: Path) -> None:
    with largest_file(100), pytest.raises(OSError, match=r"vm\.yaml"):
        write_file(tmp_path / "vm.yaml", b"new" * 1000)
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        write_file(tmp_path / "none" / "vm.yaml", "new")
    assert str(error.value) == f"[Errno 2] No such file or directory: '{tmp_path}/none/vm.yaml'"


def test_a_replaced_file_keeps_mode_and_link(tmp_path: Path) -> None:
    path, link, new = tmp_path / "vm.yaml", tmp_path / "link", tmp_path / "new"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to("vm.yaml")
    write_file(link, "ä")
    assert link.is_symlink() and path.read_bytes() == "ä".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    (tmp_path / "plain").touch()
    write_file(new, "")
    assert new.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_devices_are_written_in_place() -> None:
    write_file(Path("/dev/null"), "new")
    assert Path("/dev/null").is_char_device()
