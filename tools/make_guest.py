"""Makes a guest image from Debian's packages, and prints its path: `python tools/make_guest.py [--minimal]`.

Without options, a small Debian with systemd, cloud-init, OpenSSH and the QEMU guest agent. With --minimal, a guest that
boots in seconds without KVM, for tests: docs/guest_images.md says what it has. Images are kept in
~/.cache/virtshape/guests for a week after their last use, and made anew when their recipe in tools/guests changes.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parent)]

from guests import debian_root, minimal_root, packages  # noqa: E402

RECIPES = Path(__file__).resolve().parent / "guests"
PROGRAMS = {"mmdebstrap": "mmdebstrap", "qemu-img": "qemu-utils"}
"""Program that makes images → the package of Debian and Ubuntu that has it."""
RUNNERS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "xorrisofs": "xorriso",
    "ssh": "openssh-client",
}
"""What it takes to run them on a local cluster and to log in."""
FIRMWARE = {"/usr/share/OVMF/OVMF_CODE_4M.fd": "ovmf"}
"""What it takes to boot them by EFI."""
_KEPT = 7 * 24 * 3600
"""Seconds for which an image stays after it was last asked for."""


class Kind(NamedTuple):
    """make: writes the image, given a folder to work in. recipe: the files that it is made by."""

    make: Callable[[Path, Path], None]
    recipe: tuple[str, ...]


KINDS = {
    "debian": Kind(debian_root.make, ("debian_root.py", "disk.py", "packages.py")),
    "minimal": Kind(minimal_root.make, ("minimal_root.py", "disk.py", "packages.py", "initramfs.py", "minimal/*")),
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Makes a guest image from Debian's packages, and prints its path.")
    parser.add_argument("--minimal", action="store_true", help="the guest for tests, which boots in seconds")
    parser.add_argument("--force", action="store_true", help="make it anew, with the packages of today")
    parser.add_argument(
        "--install", action="store_true", help="as root with apt-get: install what making and running them needs"
    )
    options = parser.parse_args(arguments)
    try:
        if options.install:
            install()
        print(image("minimal" if options.minimal else "debian", options.force))
    except (packages.Failed, OSError) as error:
        print(f"make_guest: {error}", file=sys.stderr)
        return 1
    return 0


def missing(programs: dict[str, str]) -> list[str]:
    """The packages of those programs and files that this machine lacks."""
    return [package for name, package in programs.items() if not (shutil.which(name) or Path(name).exists())]


def install() -> None:
    """Installs the missing programs if that is ours to do."""
    wanted = missing({**PROGRAMS, **RUNNERS, **FIRMWARE})
    if wanted and os.getuid() == 0 and shutil.which("apt-get"):
        apt_get = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in packages.PATIENCE.items())]
        packages.run([*apt_get, "update"])
        packages.run([*apt_get, "install", "--no-install-recommends", *wanted], {"DEBIAN_FRONTEND": "noninteractive"})


def image(kind: str, force: bool = False) -> Path:
    """The path of the image, which is made if it does not exist. Others that ask for it at the same time wait."""
    path = image_path(kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if force or not path.exists():
            if lacking := missing(PROGRAMS):
                raise packages.Failed(f"no {' and no '.join(lacking)} on this machine: install them")
            with tempfile.TemporaryDirectory(prefix=f"make-{kind}-", dir=path.parent) as folder:
                made = Path(folder) / "image.qcow2"
                KINDS[kind].make(Path(folder), made)
                made.rename(path)
        os.utime(path)
        _prune(path.parent, kind)
    return path


def _prune(folder: Path, kind: str) -> None:
    """Removes what nobody has asked for in a long time: disks of VMs that run may lie on younger ones."""
    for old in folder.glob(f"{kind}-*"):
        if time.time() - old.stat().st_mtime > _KEPT:
            old.unlink()


def image_path(kind: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "virtshape" / "guests" / f"{kind}-{recipe_digest(kind)}.qcow2"


def recipe_digest(kind: str) -> str:
    result = hashlib.sha256()
    for path in sorted(path for pattern in KINDS[kind].recipe for path in RECIPES.glob(pattern)):
        if path.is_file():
            result.update(f"{path.relative_to(RECIPES)}\0".encode() + path.read_bytes())
    return result.hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
