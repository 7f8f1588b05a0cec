"""The emulation's own configuration: a JSON file that its starter writes."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

REVISION_STYLES = ("status", "spec")


class ConfigError(Exception):
    """The configuration cannot be used; the message is one line that says why."""


@dataclass(frozen=True)
class Config:
    """What the emulation needs to know.

    kubeconfig: names the API server and a user who may do everything and impersonate. host, port: where webhooks and
    subresources are served. tls_cert, tls_key: for that; the certificate must hold `virt-api.kubevirt.svc`.
    ca_file: who signed it. revision_style: `status` as KubeVirt since 1.5, `spec` as up to 1.4.
    ready_file: made once everything is installed and served.
    """

    kubeconfig: str
    host: str
    port: int
    tls_cert: str
    tls_key: str
    ca_file: str
    ready_file: str
    revision_style: str = "status"
    log_level: str = "INFO"


def load(path: str) -> Config:
    """Reads the file; raises ConfigError."""
    try:
        values = json.loads(Path(path).read_text())
        config = Config(**{field.name: values[field.name] for field in fields(Config) if field.name in values})
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    if config.revision_style not in REVISION_STYLES:
        raise ConfigError(f"{path}: revision_style: {config.revision_style!r} is not one of {REVISION_STYLES}")
    return config
