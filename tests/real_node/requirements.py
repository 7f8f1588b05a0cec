"""What a machine needs for real nodes."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_PROGRAMS = {
    "mmdebstrap": "mmdebstrap",
    "qemu-img": "qemu-utils",
    "gcc": "gcc",
    "pkg-config": "pkg-config",
    "ip": "iproute2",
    "unshare": "util-linux",
}
"""Program → the package of Debian and Ubuntu that has it."""
_TRY = 'mount -t overlay overlay -o "lowerdir=$1/a,upperdir=$1/b,workdir=$1/c" "$1/d" && ip link add try0 type bridge'


def lacking() -> str:
    """Why this machine cannot run real nodes, on one line; "" if it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"real nodes need Linux on x86_64, and this is {sys.platform} on {platform.machine()}"
    if os.geteuid():
        return "real nodes need root"
    missing = [package for program, package in _PROGRAMS.items() if not shutil.which(program)]
    if missing:
        return f"real nodes need the packages {' '.join(missing)}"
    with tempfile.TemporaryDirectory() as folder:
        for name in "abcd":
            Path(folder, name).mkdir()
        command = ["unshare", "--net", "--mount", "sh", "-c", _TRY, "sh", folder]
        tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"real nodes need namespaces, overlayfs and bridges: {tried.stderr.strip().splitlines()[-1]}"
    return ""
