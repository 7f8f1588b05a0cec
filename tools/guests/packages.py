"""Packages of Debian without root: mmdebstrap fetches and unpacks them, and installs nothing here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

SUITE = "trixie"
KERNEL = "linux-image-cloud-amd64"
"""With few drivers: of NICs, virtio alone."""
PATIENCE = {"Acquire::Retries": "1", "Acquire::http::Timeout": "20", "DPkg::Lock::Timeout": "120"}
"""Options of apt-get, with which a mirror that does not answer is soon given up."""
LONGEST = 900
"""Seconds that a command may take."""
LOADER = Path("usr/lib64/ld-linux-x86-64.so.2")
LIBRARIES = Path("usr/lib/x86_64-linux-gnu")


class Failed(Exception):
    """Why no image could be made, in one line."""


def unpack(packages: Iterable[str], folder: Path) -> None:
    """Unpacks the packages and what they depend on into the folder, without running their scripts."""
    archive = folder.with_suffix(".tar")
    debootstrap(packages, archive, "--mode=chrootless", "--variant=extract")
    folder.mkdir()
    # Ordinary users make no device nodes.
    run(["tar", "-C", str(folder), "--exclude=./dev/*", "-xpf", str(archive)])
    archive.unlink()


def debootstrap(packages: Iterable[str], archive: Path, *options: str) -> None:
    """A root of the packages, as a tar file."""
    include = "--include=" + ",".join(packages)
    patience = (f'--aptopt={name} "{value}"' for name, value in PATIENCE.items())
    run(["mmdebstrap", "--quiet", "--architectures=amd64", *patience, *options, include, SUITE, str(archive)])


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    """Runs a command, and fails with the end of its error output."""
    program = Path(command[0]).name
    try:
        answer = subprocess.run(
            command,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{program} has not ended after {LONGEST} seconds") from error
    if answer.returncode:
        said = [line for line in answer.stdout.splitlines() if line.strip()]
        # mmdebstrap ends with what it cleans up; the reason comes before.
        reason = next((line for line in said if line.startswith("E: ")), said[-1] if said else "no output")
        raise Failed(f"{program} ended with {answer.returncode}: {reason}")


def run_unpacked(root: Path, program: str, *arguments: str, environment: dict[str, str] | None = None) -> None:
    """Runs a program of unpacked packages with their own C library, whatever this machine has."""
    loader = [str(root / LOADER), "--library-path", str(root / LIBRARIES)]
    run([*loader, str(root / program), *arguments], environment)
