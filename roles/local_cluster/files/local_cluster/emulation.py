"""Configuration and command line of `kubevirt_emulation`, which makes the API server behave like one with KubeVirt."""

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
"""Third-party libraries of the emulation."""


def config(layout: Layout, port: int, kubevirt_version: str, log_level: str) -> dict[str, Any]:
    """The contents of the configuration file; for the keys see the emulation's own documentation."""
    return {
        "kubeconfig": str(kubeconfig(layout)),
        "host": HOST,
        "port": port,
        "tls_cert": str(layout.pki / "webhook.crt"),
        "tls_key": str(layout.pki / "webhook.key"),
        "ca_file": str(layout.pki / "ca.crt"),
        "kubevirt_version": kubevirt_version,
        "ready_file": str(ready_file(layout)),
        "log_level": log_level.upper(),  # as in Python's logging
    }


def kubeconfig(layout: Layout) -> Path:
    """The kubeconfig of the emulation, which acts as KubeVirt's own service account."""
    return layout.pki / "emulation.kubeconfig"


def ready_file(layout: Layout) -> Path:
    """The emulation creates this file once it serves and is registered with the API server."""
    return layout.run / "emulation.ready"


def command(config_file: Path) -> list[str]:
    """The command line, to be run with `environment`."""
    return [sys.executable, "-m", "kubevirt_emulation", "--config", str(config_file)]


def environment() -> dict[str, str]:
    """This process's environment with the import path of the emulation and of `_resolver`."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(FILES), str(MODULE_UTILS)]),
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
    }


def check_installed() -> None:
    """Raise LauncherError if this Python lacks a library of the emulation."""
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        packages = " ".join("PyYAML" if name == "yaml" else name for name in missing)
        raise LauncherError(
            f"python: {sys.executable} lacks {', '.join(missing)}; run '{sys.executable} -m pip install {packages}' "
            "or use another Python"
        )


def sources_hash() -> str:
    """A hash of all sources of the emulation: a change means that it must be restarted."""
    digest = hashlib.sha256()
    for folder in (EMULATION_SOURCES, MODULE_UTILS / "_resolver"):
        for file in sorted(folder.rglob("*.py")):
            digest.update(f"{file.relative_to(folder)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]
