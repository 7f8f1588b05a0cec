"""The emulation's own configuration: a JSON file that its starter writes."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

from kubevirt_emulation import releases


class ConfigError(Exception):
    """The configuration cannot be used; the message is one line that says why."""


@dataclass(frozen=True)
class Config:
    """What the emulation needs to know.

    kubeconfig: names the API server and a user who may do everything and impersonate. host, port: where webhooks and
    subresources are served. tls_cert, tls_key: for that; the certificate must hold `virt-api.kubevirt.svc`.
    ca_file: who signed it. ready_file: made once everything is installed and served.
    kubevirt_version: the release of KubeVirt to behave like, such as 1.4.1; see releases.py.
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
