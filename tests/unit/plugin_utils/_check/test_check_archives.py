"""The check of compressed files, archives and JSON objects one after another."""

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest
from checked_files import instancetype

from plugins.plugin_utils._check.command import main

SIZE = instancetype("small", "two", "shop")
TEXT = json.dumps(SIZE, indent=4)


def packed(name: str, content: bytes) -> bytes:
    """An archive with a file, a link to it, and a program."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for member in (name, "run.sh"):
            entry = tarfile.TarInfo(member)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        link = tarfile.TarInfo("link.yaml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("sizes.json.gz", gzip.compress(TEXT.encode()), "sizes.json.gz:10:"),
        ("dump.tar.gz", packed("shop/size.yaml", TEXT.encode()), "dump.tar.gz/shop/size.yaml:10:"),
        ("dump.tgz", packed("size.json.gz", gzip.compress(TEXT.encode())), "dump.tgz/size.json.gz:10:"),
        ("two.json", f'{{\n"kind": "Pod"\n}}\n{TEXT}\n'.encode(), "two.json:13:"),
    ],
)
def test_packed_files_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, shown: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main([str(tmp_path / name)]) == 1
    [error] = [line for line in capsys.readouterr().out.splitlines() if ": error:" in line]
    assert error.startswith(f"{tmp_path}/{shown}")
    assert "spec.cpu.guest" in error


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sizes.json.gz", gzip.compress(TEXT.encode())[:40]),
        ("sizes.json.gz", b"text"),
        ("dump.tgz", packed("size.json", TEXT.encode())[:60]),
        ("dump.tar", b"text"),
    ],
    ids=["cut-gzip", "text-gzip", "cut-tar", "text-tar"],
)
def test_incomplete_archives_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main([str(tmp_path / name)])
    output = capsys.readouterr()
    [line] = [line for line in (output.out + output.err).splitlines() if name in line]
    assert "cannot be unpacked" in line and "check that the file is complete" in line


def test_compressed_files_in_folders_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "size.json.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "page.html.gz").write_bytes(gzip.compress(b"<html>"))
    assert main([str(tmp_path)]) == 1
    assert "size.json.gz:" in capsys.readouterr().out
