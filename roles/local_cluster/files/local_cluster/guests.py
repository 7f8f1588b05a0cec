"""Guests that QEMU runs: what they need of the machine, their consoles, and their end."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from local_cluster import processes
from local_cluster.errors import LauncherError
from local_cluster.paths import Layout

QEMU = "qemu"
SIMULATED = "simulated"
PROGRAMS = {"qemu-system-x86_64": "qemu-system-x86", "qemu-img": "qemu-utils", "xorrisofs": "xorriso"}
"""Program → its package in Debian."""
_ESCAPE = b"\x1d"  # Ctrl-]
_BLOCK = 1 << 14


def check(guests: str, images: Mapping[str, str], *, kubevirt: bool) -> None:
    """Raise LauncherError if this machine cannot run guests, or an image is not there."""
    if guests != QEMU:
        if images:
            raise LauncherError("images: only guests of QEMU have images; set guests to qemu, or leave images out")
        return
    if not kubevirt:
        raise LauncherError("guests: the cluster has no KubeVirt; leave the option out")
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        packages = " ".join(PROGRAMS[program] for program in missing)
        raise LauncherError(
            f"guests: this machine lacks {', '.join(missing)}; install them (on Debian: apt install {packages}), "
            "or set guests to simulated"
        )
    for name, file in images.items():
        if not os.access(file, os.R_OK) or not Path(file).is_file():
            raise LauncherError(f"images: {name}: {file} is no readable file; name an image that exists")


def absolute(images: Mapping[str, str]) -> dict[str, str]:
    """The images with the whole paths of their files."""
    return {name: str(Path(file).expanduser().absolute()) for name, file in images.items()}


def stop_all(layout: Layout) -> None:
    """End the guests that a node which was killed has left behind."""
    for record in layout.guests.glob("*/qemu.json"):
        processes.stop(record, 2)


def console(layout: Layout, name: str, *, log: bool) -> None:
    """Connect this terminal with the serial console of a guest until Ctrl-], or print what it has shown so far.

    name: NAME or NAMESPACE/NAME of the VM. Raises LauncherError.
    """
    folder = _folder(layout, name)
    if log:
        sys.stdout.write((folder / "console.log").read_text(errors="replace"))
        return
    with socket.socket(socket.AF_UNIX) as connection:
        os.chdir(folder)  # the path of a socket has at most 107 characters
        connection.connect("console.sock")
        print(f"connected to {name}; Ctrl-] ends", file=sys.stderr)
        with _raw_terminal():
            _exchange(connection)


def _folder(layout: Layout, name: str) -> Path:
    names = {(folder.parent, folder.read_text()) for folder in layout.guests.glob("*/name")}
    found = [folder for folder, full in names if name in (full, full.partition("/")[2])]
    if len(found) == 1:
        return found[0]
    others = ", ".join(sorted(full for _folder, full in names)) or "none"
    what = "no guest of QEMU is" if not found else "several guests are"
    raise LauncherError(f"console: {what} called {name}; guests that run: {others}")


def _exchange(connection: socket.socket) -> None:
    inputs: list[Any] = [connection, sys.stdin]
    while True:
        ready, _write, _error = select.select(inputs, [], [])
        if connection in ready:
            data = connection.recv(_BLOCK)
            if not data:
                return
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        if sys.stdin in ready:
            typed = os.read(sys.stdin.fileno(), _BLOCK)
            if not typed or _ESCAPE in typed:
                return
            connection.sendall(typed)


@contextlib.contextmanager
def _raw_terminal() -> Iterator[None]:
    """Pass on each key at once, if there is a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        print()
