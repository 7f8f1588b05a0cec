"""The emulation's configuration: a JSON file from the launcher."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

from kubevirt_emulation import releases


class ConfigError(Exception):
    """The configuration is unusable; one line says why."""


@dataclass(frozen=True)
class Config:
    """The configuration of the emulation.

    kubeconfig: the API server, and a user with all rights including impersonation. host, port: for webhooks and
    subresources. tls_cert, tls_key: for these; the certificate must contain `virt-api.kubevirt.svc`.
    ca_file: the CA of the certificate. ready_file: created once everything is installed and served.
    kubevirt_version: the release of KubeVirt to emulate, such as 1.4.1; see releases.py.
    """

    kubeconfig: str
    host: str
    port: int
    tls_cert: str
    tls_key: str
    ca_file: str
    ready_file: str
    kubevirt_version: str = releases.NEWEST
    log_level: str = "INFO"


def load(path: str) -> Config:
    """Reads the file; raises ConfigError."""
    try:
        values = json.loads(Path(path).read_text())
        config = Config(**{field.name: values[field.name] for field in fields(Config) if field.name in values})
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    problem = releases.problem(config.kubevirt_version)
    if problem:
        raise ConfigError(f"{path}: {problem}")
    return config
