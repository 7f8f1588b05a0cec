"""The configuration of the node: a JSON file from the launcher."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

Manifest = dict[str, Any]

DEFAULT_NODES = ("node01", "node02")  # a guest migrates from one to the other


class ConfigError(Exception):
    """The configuration is unusable; one line says why."""


@dataclass(frozen=True)
class NodeConfig:
    """A node. devices: extended resources and how many there are of each. taints: as in a Node's spec."""

    name: str
    cpu: str = "1000"
    memory: str = "4Ti"
    pods: str = "10000"
    labels: dict[str, str] = field(default_factory=dict)
    taints: list[Manifest] = field(default_factory=list)
    devices: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Config:
    """All settings.

    kubeconfig: of a user with all rights. ca_file: KubeVirt's CA, which signed virt-api's client certificate; "" to ask
    for none. host, port, tls_cert, tls_key: of virt-handler's server. upload_port: of CDI's upload proxy; 0 for none.
    bind: whether the node binds pods, as there is no scheduler. nodes: [] for two with room for everything. migratable:
    whether VMIs can be migrated, so that memory and CPU are plugged. stop_seconds: how long guests take to shut down.
    guest_program: makes the domains of guests that QEMU runs; "" if all are simulated. images: the files of images, by
    pattern. volumes: the folder of what claims hold. ready_file: created when everything works.
    """

    kubeconfig: str
    port: int
    tls_cert: str
    tls_key: str
    ready_file: str
    ca_file: str = ""
    host: str = "127.0.0.1"
    upload_port: int = 0
    upload_tls_cert: str = ""
    upload_tls_key: str = ""
    kubevirt_version: str = "1.9.0"
    bind: bool = True
    nodes: tuple[NodeConfig, ...] = tuple(NodeConfig(name) for name in DEFAULT_NODES)
    guest_agent: bool = True
    migratable: bool = False
    stop_seconds: float = 0
    guest_program: str = ""
    images: dict[str, str] = field(default_factory=dict)
    volumes: str = ""
    log_level: str = "INFO"

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor version of KubeVirt."""
        major, minor = self.kubevirt_version.split(".")[:2]
        return int(major), int(minor)


def load(path: str) -> Config:
    """Reads the file; raises ConfigError."""
    try:
        values = json.loads(Path(path).read_text())
        names = {entry.name for entry in fields(Config)}
        unknown = sorted(values.keys() - names)
        if unknown:
            raise ConfigError(f"{path}: unknown: {', '.join(unknown)}")
        nodes = tuple(_node(entry) for entry in values.pop("nodes", None) or ())
        config = Config(**values)
        return replace(config, nodes=nodes) if nodes else config
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: {error}") from None


def _node(values: Manifest) -> NodeConfig:
    """A node of the file. None and numbers are allowed where Kubernetes has texts."""
    options = {name: value for name, value in values.items() if value is not None}
    for name in ("cpu", "memory", "pods"):
        if name in options:
            options[name] = str(options[name])
    for name in ("labels", "devices"):
        options[name] = {key: str(value) for key, value in (options.get(name) or {}).items()}
    return NodeConfig(**options)
