"""The initial RAM disk of the minimal guest: busybox, the drivers, and a script that mounts the root."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .packages import Failed

DRIVERS = (
    *("virtio_blk", "virtio_scsi", "ahci", "sd_mod", "sr_mod", "isofs", "virtio_net", "xhci_pci", "usb_storage", "uas"),
    *("button", "evdev", "virtio_balloon", "virtio_rng", "virtio_mem"),
)
"""Drivers that the kernel does not contain: disks, NICs, the power button, memory. Those that it lacks are left out."""
_FILE, _FOLDER = 0o100000, 0o040000


def modules(root: Path, drivers: Iterable[str] = DRIVERS) -> list[tuple[str, bytes]]:
    """The drivers as the kernel loads them, name and content, each after those that it depends on.

    root: a folder with one unpacked kernel.
    """
    files = {_name(path.name): path for path in sorted(root.glob("usr/lib/modules/*/kernel/**/*.ko*"))}
    if not files:
        raise Failed("the package of the kernel has no drivers")
    result: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in files and name not in result:
            path = files[name]
            content = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
            for dependency in _dependencies(content):
                add(dependency)
            result[name] = content

    for driver in drivers:
        add(_name(driver))
    return list(result.items())


def _name(file: str) -> str:
    return file.partition(".")[0].replace("-", "_")


def _dependencies(module: bytes) -> list[str]:
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    return [_name(name) for name in found[1].decode().split(",") if name] if found else []


def archive(init: str, busybox: bytes, drivers: list[tuple[str, bytes]]) -> bytes:
    """The RAM disk, as a cpio archive that the kernel unpacks without decompressing it."""
    order = "".join(f"{name}\n" for name, _ in drivers).encode()
    entries = [
        *((folder, _FOLDER | 0o755, b"") for folder in ("bin", "dev", "proc", "sys", "root", "modules")),
        ("init", _FILE | 0o755, f"#!/bin/busybox sh\n{init}".encode()),
        ("bin/busybox", _FILE | 0o755, busybox),
        ("modules/order", _FILE | 0o644, order),
        *((f"modules/{name}.ko", _FILE | 0o644, content) for name, content in drivers),
    ]
    return b"".join(_entries(entries))


def _entries(entries: list[tuple[str, int, bytes]]) -> Iterator[bytes]:
    for number, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        header = b"070701" + "".join(f"{field:08x}" for field in fields).encode()
        yield _padded(header + name.encode() + b"\0") + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
