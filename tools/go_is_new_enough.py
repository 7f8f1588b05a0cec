"""Exits 0 if the `go` of PATH is at least the version that the control plane's go.mod asks for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

GO_MOD = Path(__file__).parents[1] / "roles" / "local_cluster" / "files" / "control_plane" / "go.mod"


def version(text: str) -> tuple[int, ...]:
    match = re.search(r"go ?(\d+)\.(\d+)", text)
    return tuple(map(int, match.groups())) if match else ()


def main() -> int:
    try:
        installed = subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 1
    needed = next(line for line in GO_MOD.read_text().splitlines() if line.startswith("go "))
    return 0 if version(installed.partition("version ")[2]) >= version(needed) else 1


if __name__ == "__main__":
    sys.exit(main())
