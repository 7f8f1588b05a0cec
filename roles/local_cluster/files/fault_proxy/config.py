"""The proxy's configuration: a JSON file from the launcher."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Config:
    """The configuration of the proxy.

    upstream: the API server's address. ca_file: the CA of its certificate. host, port: where the proxy listens.
    tls_cert, tls_key: the proxy's certificate. token: permits changes of the faults.
    ready_file: created once the proxy listens.
    """

    upstream: str
    ca_file: str
    host: str
    port: int
    tls_cert: str
    tls_key: str
    token: str
    ready_file: str
    log_level: str = "INFO"


def load(path: str) -> Config:
    """Reads the file. Raises OSError, ValueError or KeyError."""
    values = json.loads(Path(path).read_text())
    return Config(**{field.name: values[field.name] for field in fields(Config) if field.name in values})
