"""The location of etcd's data: the state directory, or memory with a link to it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from local_cluster.errors import LauncherError

MEMORY = Path("/dev/shm")
"""Linux' file system in memory."""
NEEDED = 256 * 2**20
"""The required free bytes: etcd's log allocates 64 MiB at once, twice when it starts a new file."""


def place(etcd: Path, where: str, *, memory: Path = MEMORY) -> None:
    """Put the folder `etcd` on `disk` or in `memory`, with any existing data.

    Call it only while nothing uses the data. Raises LauncherError if there is no file system in memory, or too little
    space.
    """
    if etcd.is_symlink() and not _is_own(etcd):
        etcd.unlink()  # the machine was rebooted
    if where == "memory" and not etcd.is_symlink():
        _check(memory)
        # The directory is world-writable; mkdtemp creates a folder that nobody else has prepared.
        target = Path(tempfile.mkdtemp(prefix="virtshape-local-cluster-", dir=memory))
        if etcd.exists():
            _move(etcd, target)
        etcd.symlink_to(target)
    elif where == "disk" and etcd.is_symlink():
        target = etcd.resolve()
        beside = etcd.with_name(f".{etcd.name}.{os.getpid()}")
        beside.mkdir(mode=0o700)
        _move(target, beside)
        etcd.unlink()
        beside.rename(etcd)
    etcd.mkdir(mode=0o700, exist_ok=True)


def remove(etcd: Path) -> None:
    """Remove the data, wherever they are."""
    if etcd.is_symlink():
        shutil.rmtree(etcd.resolve(), ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            etcd.unlink()
    else:
        shutil.rmtree(etcd, ignore_errors=True)


def present(etcd: Path) -> bool:
    """Whether there are data."""
    return etcd.is_dir() and any(etcd.iterdir())


def _is_own(folder: Path) -> bool:
    try:
        return folder.stat().st_uid == os.getuid()
    except OSError:
        return False


def _check(memory: Path) -> None:
    if not memory.is_dir():
        raise LauncherError(f"data: this machine has no file system in memory at {memory}; set data to disk")
    free = shutil.disk_usage(memory).free
    if free < NEEDED:
        raise LauncherError(
            f"data: {memory} has {free // 2**20} MiB free, etcd needs {NEEDED // 2**20}; enlarge it, "
            "or set data to disk"
        )


def _move(source: Path, target: Path) -> None:
    """Move a folder into an empty one, which may be on another file system."""
    try:
        shutil.copytree(source, target, dirs_exist_ok=True)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    shutil.rmtree(source)
