"""Files in the place of images."""

import gzip
import lzma
from pathlib import Path
from typing import Any

import pytest

from node.guests.domain import Drive
from node.guests.images import Images, decompress, drive


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"QFI\xfb more" if name == "a" else b"raw")
    return {name: str(tmp_path / name) for name in ("a", "b")}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("quay.io/containerdisks/fedora:41", "a"),
        ("docker://quay.io/containerdisks/fedora:41", "a"),
        ("quay.io/containerdisks/debian:13", "b"),
        ("https://example.com/x.img", "b"),
        ("quay.io/other/fedora:41", ""),
        ("QUAY.io/containerdisks/fedora:41", ""),
    ],
)
def test_first_matching_pattern_decides(files: dict[str, str], name: str, found: str) -> None:
    images = Images(
        {
            "quay.io/containerdisks/fedora:*": files["a"],
            "docker://quay.io/containerdisks/*": files["b"],
            "https://example.com/*": files["b"],
        }
    )
    result = images.find(name)
    assert (result.file if result else "") == files.get(found, "")


def test_format_is_read_from_the_file(files: dict[str, str]) -> None:
    assert drive(Path(files["a"])) == Drive(files["a"], "qcow2")
    assert drive(Path(files["b"])) == Drive(files["b"], "raw")


@pytest.mark.parametrize("library", [gzip, lzma, None])
def test_compressed_images_are_decompressed(tmp_path: Path, library: Any) -> None:
    file = tmp_path / "disk"
    file.write_bytes(library.compress(b"disk") if library else b"disk")
    decompress(file)
    assert file.read_bytes() == b"disk" and list(tmp_path.iterdir()) == [file]
