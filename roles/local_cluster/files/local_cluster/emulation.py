"""Configuration and command line of `kubevirt_emulation`, which makes the API server behave like KubeVirt's."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from local_cluster.errors import LauncherError
from local_cluster.paths import EMULATION_SOURCES, FILES, MODULE_UTILS, Layout
from local_cluster.ports import HOST

LIBRARIES = ("aiohttp", "jsonpatch", "yaml")
"""What the emulation imports from elsewhere."""


def config(layout: Layout, port: int, kubevirt_version: str, log_level: str) -> dict[str, Any]:
    """The configuration file's content; the emulation's own documentation says what each key means."""
    return {
        "kubeconfig": str(kubeconfig(layout)),
        "host": HOST,
        "port": port,
        "tls_cert": str(layout.pki / "webhook.crt"),
        "tls_key": str(layout.pki / "webhook.key"),
        "ca_file": str(layout.pki / "ca.crt"),
        "kubevirt_version": kubevirt_version,
        "ready_file": str(ready_file(layout)),
        "log_level": log_level.upper(),  # as Python's logging names it
    }


def kubeconfig(layout: Layout) -> Path:
    """The kubeconfig of the emulation, which acts as KubeVirt's own service account."""
    return layout.pki / "emulation.kubeconfig"


def ready_file(layout: Layout) -> Path:
    """Made by the emulation once it is registered with the API server and serves."""
    return layout.run / "emulation.ready"


def command(config_file: Path) -> list[str]:
    """The command line, to be run with `environment`."""
    return [sys.executable, "-m", "kubevirt_emulation", "--config", str(config_file)]


def environment() -> dict[str, str]:
    """This process's environment with the path on which the emulation finds itself and `_resolver`."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(FILES), str(MODULE_UTILS)]),
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }


def check_installed() -> None:
    """Raise LauncherError when this Python lacks a library of the emulation."""
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        packages = " ".join("PyYAML" if name == "yaml" else name for name in missing)
        raise LauncherError(
            f"python: {sys.executable} lacks {', '.join(missing)}; run '{sys.executable} -m pip install {packages}' "
            "or use another Python"
        )


def sources_hash() -> str:
    """A hash of all that the emulation runs: it changes when the emulation has to be restarted."""
    digest = hashlib.sha256()
    for folder in (EMULATION_SOURCES, MODULE_UTILS / "_resolver"):
        for file in sorted(folder.rglob("*.py")):
            digest.update(f"{file.relative_to(folder)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]
