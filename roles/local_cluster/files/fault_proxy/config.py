"""The proxy's own configuration: a JSON file that its starter writes."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Config:
    """What the proxy needs to know.

    upstream: the API server's address. ca_file: who signed its certificate. host, port: where the proxy listens.
    tls_cert, tls_key: the certificate it shows. token: who bears it may switch the faults.
    ready_file: made once the proxy listens.
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
    """Reads the file; raises OSError, ValueError or KeyError."""
    values = json.loads(Path(path).read_text())
    return Config(**{field.name: values[field.name] for field in fields(Config) if field.name in values})
