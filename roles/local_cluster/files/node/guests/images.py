"""Files in the place of images: what a user has mapped, and what else QEMU reads and writes."""

from __future__ import annotations

import asyncio
import gzip
import json
import lzma
import shutil
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from node.guests.domain import Drive

_QCOW2: Final = b"QFI\xfb"
_COMPRESSED: Final[dict[bytes, Any]] = {b"\x1f\x8b": gzip, b"\xfd7zXZ\0": lzma}
_SCHEME: Final = "docker://"


class ToolFailed(Exception):
    """qemu-img, or the program that makes CD-ROMs, has failed; one line says why."""


class Images:
    """Images, as VMs and imports name them, by pattern → file. The first pattern that matches counts."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def find(self, name: str) -> Drive | None:
        """The file of an image or of the URL of an import; None for one that nobody has mapped."""
        image = name.removeprefix(_SCHEME)
        for pattern, file in self._files.items():
            if fnmatchcase(image, pattern.removeprefix(_SCHEME)):
                return drive(Path(file))
        return None


def drive(file: Path) -> Drive:
    """A file with its format: everything that is not qcow2 counts as a raw disk."""
    with file.open("rb") as opened:
        return Drive(str(file), "qcow2" if opened.read(len(_QCOW2)) == _QCOW2 else "raw")


def decompress(file: Path) -> None:
    """Replaces a compressed file by its contents."""
    with file.open("rb") as opened:
        start = opened.read(6)
    library = next((library for magic, library in _COMPRESSED.items() if start.startswith(magic)), None)
    if library is not None:
        plain = file.with_suffix(".plain")
        with library.open(file) as source, plain.open("wb") as target:
            shutil.copyfileobj(source, target, 2**20)
        plain.replace(file)


async def create(file: Path, size: int = 0, backing: Drive | None = None) -> Drive:
    """Makes an empty disk, or one that has all of another and keeps only what is different. size: 0 for the other's."""
    behind = ["-b", str(Path(backing.file).absolute()), "-F", backing.format] if backing is not None else []
    await run("qemu-img", "create", "-q", "-f", "qcow2", *behind, str(file), *([str(size)] if size else []))
    return Drive(str(file.absolute()), "qcow2")


async def copy(source: Path, target: Path) -> None:
    """Copies a disk of whatever format, without the empty parts."""
    await run("qemu-img", "convert", "-q", "-U", "-O", "qcow2", str(source), str(target))


async def grow(file: Path, size: int) -> None:
    """Makes a disk larger, if it is not so large yet."""
    if await virtual_size(file) < size:
        await run("qemu-img", "resize", "-q", str(file), str(size))


async def virtual_size(file: Path) -> int:
    """The bytes that a guest sees."""
    return int(json.loads(await run("qemu-img", "info", "-U", "--output=json", str(file)))["virtual-size"])


async def cdrom(file: Path, label: str, folder: Path) -> Drive:
    """A CD-ROM with the files of a folder."""
    await run("xorrisofs", "-quiet", "-output", str(file), "-volid", label, "-joliet", "-rock", str(folder))
    return Drive(str(file.absolute()), "raw")


async def run(*command: str, text: str = "") -> str:
    """What a program prints. text: its standard input. Raises ToolFailed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE if text else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate(text.encode() if text else None)
    if process.returncode:
        last = errors.decode(errors="replace").strip().splitlines()[-1:] or [f"exit status {process.returncode}"]
        raise ToolFailed(f"{Path(command[0]).name}: {last[0]}")
    return output.decode()
