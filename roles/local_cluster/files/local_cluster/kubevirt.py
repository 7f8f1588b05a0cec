"""Configuration and command lines of KubeVirt's and CDI's programs, and of the simulated node."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from local_cluster import guests
from local_cluster.errors import LauncherError
from local_cluster.paths import FILES, NODE_SOURCES, Layout
from local_cluster.ports import HOST

LIBRARIES = ("aiohttp", "yaml")
"""Third-party libraries of the node and of the fault proxy."""
USERS = ("virt-api", "virt-controller", "cdi", "node")
"""The users (see `pki`) as which they reach the API server."""
_VERBOSITY = {"debug": "4", "info": "2", "warning": "1", "error": "0"}


def kubeconfig(layout: Layout, user: str) -> Path:
    """The kubeconfig of one of KubeVirt's or CDI's programs."""
    return layout.pki / f"{user}.kubeconfig"


def virt_api(programs: Path, layout: Layout, port: int, handler_port: int, log_level: str) -> list[str]:
    """The command line of virt-api. handler_port: of virt-handler's server, for consoles and subresources."""
    return [
        str(programs / "virt-api"),
        *_flags(
            kubeconfig=kubeconfig(layout, "virt-api"),
            listen=HOST,
            port=port,
            console_server_port=handler_port,
            tls_cert_file=layout.pki / "services.crt",
            tls_key_file=layout.pki / "services.key",
            handler_cert_file=layout.pki / "virt-handler-client.crt",
            handler_key_file=layout.pki / "virt-handler-client.key",
            v=_VERBOSITY[log_level],
        ),
    ]


def virt_controller(programs: Path, layout: Layout, port: int, release: str, log_level: str) -> list[str]:
    """The command line of virt-controller."""
    return [
        str(programs / "virt-controller"),
        *_flags(
            kubeconfig=kubeconfig(layout, "virt-controller"),
            listen=HOST,
            port=port,
            launcher_image=_image("virt-launcher", release),
            exporter_image=_image("virt-exportserver", release),
            prom_cert_file=layout.pki / "services.crt",
            prom_key_file=layout.pki / "services.key",
            # Long, so that a busy machine does not end its leadership; the launcher removes the lease of one that died.
            leader_elect_lease_duration="60s",
            leader_elect_renew_deadline="50s",
            v=_VERBOSITY[log_level],
        ),
    ]


def controller_environment(release: str) -> dict[str, str]:
    """What virt-controller takes from its container."""
    return {"VIRT_OPERATOR_IMAGE": _image("virt-operator", release), "POD_NAMESPACE": "kubevirt"}


def cdi(layout: Layout, port: int, upload_port: int) -> dict[str, Any]:
    """The contents of cdi's configuration file (for its shape see `config` in control_plane/cdi/main.go)."""
    authority = {"certificate": str(layout.pki / "services-ca.crt"), "key": str(layout.pki / "services-ca.key")}
    return {
        "kubeconfig": str(kubeconfig(layout, "cdi")),
        "host": HOST,
        "port": port,
        "certificate": str(layout.pki / "services.crt"),
        "key": str(layout.pki / "services.key"),
        "uploadServerCA": {**authority, "bundle": "cdi-uploadserver-signer-bundle"},
        "uploadClientCA": {**authority, "bundle": "cdi-uploadserver-client-signer-bundle"},
        "uploadProxy": f"{HOST}:{upload_port}",
        "importerImage": "quay.io/kubevirt/cdi-importer",
        "uploadServerImage": "quay.io/kubevirt/cdi-uploadserver",
    }


def node(layout: Layout, port: int, upload_port: int, settings: Any) -> dict[str, Any]:
    """The contents of the node's configuration file. settings: see `cluster.Settings`."""
    return {
        "kubeconfig": str(kubeconfig(layout, "node")),
        "ca_file": str(layout.pki / "services-ca.crt"),
        "host": HOST,
        "port": port,
        "tls_cert": str(layout.pki / "virt-handler.crt"),
        "tls_key": str(layout.pki / "virt-handler.key"),
        "upload_port": upload_port,
        "upload_tls_cert": str(layout.pki / "services.crt"),
        "upload_tls_key": str(layout.pki / "services.key"),
        "kubevirt_version": settings.kubevirt_version,
        "bind": not settings.nodes,
        "nodes": settings.nodes,
        "guest_agent": True,
        "migratable": settings.migratable,
        "stop_seconds": settings.stop_seconds,
        **_guests(layout, settings),
        "ready_file": str(ready_file(layout)),
        "log_level": settings.log_level.upper(),  # as in Python's logging
    }


def _guests(layout: Layout, settings: Any) -> dict[str, Any]:
    """What the node needs to run guests; nothing if they are simulated."""
    if settings.guests != guests.QEMU:
        return {}
    program = str(settings.programs().guest())
    return {"guest_program": program, "images": dict(settings.images), "volumes": str(layout.volumes)}


def ready_file(layout: Layout) -> Path:
    """The node creates this file once its nodes exist and it listens."""
    return layout.run / "node.ready"


def node_command(config_file: Path) -> list[str]:
    """The node's command line, to be run with `environment`."""
    return [sys.executable, "-m", "node", "--config", str(config_file)]


def environment() -> dict[str, str]:
    """This process's environment with the import path of the node and of the fault proxy."""
    return {**os.environ, "PYTHONPATH": str(FILES), "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"}


def check_installed() -> None:
    """Raise LauncherError if this Python lacks a library of the node."""
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        packages = " ".join("PyYAML" if name == "yaml" else name for name in missing)
        raise LauncherError(
            f"python: {sys.executable} lacks {', '.join(missing)}; run '{sys.executable} -m pip install {packages}' "
            "or use another Python"
        )


def sources_hash() -> str:
    """A hash of all sources of the node: a change means that it must be restarted."""
    digest = hashlib.sha256()
    for file in sorted(NODE_SOURCES.rglob("*.py")):
        digest.update(f"{file.relative_to(NODE_SOURCES)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _image(name: str, release: str) -> str:
    return f"quay.io/kubevirt/{name}:v{release}"


def _flags(**values: object) -> list[str]:
    return [part for name, value in values.items() for part in (f"--{name.replace('_', '-')}", str(value))]
