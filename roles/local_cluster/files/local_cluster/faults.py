"""Configuration and control of `fault_proxy`, a proxy for the API server that causes faults on request."""

from __future__ import annotations

import hashlib
import http.client
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fault_proxy.rules import Faults, RuleError
from local_cluster import pki
from local_cluster.api import call
from local_cluster.errors import LauncherError
from local_cluster.paths import FAULT_PROXY_SOURCES, Layout
from local_cluster.ports import HOST

_CONTROL = "/-/faults"


def config(layout: Layout, port: int, api_port: int) -> dict[str, Any]:
    """The contents of the configuration file; for the keys see the proxy's own documentation."""
    return {
        "upstream": f"https://{HOST}:{api_port}",
        "ca_file": str(layout.pki / "ca.crt"),
        "host": HOST,
        "port": port,
        "tls_cert": str(layout.pki / "apiserver.crt"),
        "tls_key": str(layout.pki / "apiserver.key"),
        "token": pki.token(layout.pki, "admin"),
        "ready_file": str(ready_file(layout)),
    }


def ready_file(layout: Layout) -> Path:
    """The proxy creates this file once it listens."""
    return layout.run / "fault-proxy.ready"


def command(config_file: Path) -> list[str]:
    """The command line, to be run with `kubevirt.environment`."""
    return [sys.executable, "-m", "fault_proxy", "--config", str(config_file)]


def sources_hash() -> str:
    """A hash of all sources of the proxy: a change means that it must be restarted."""
    digest = hashlib.sha256()
    for file in sorted(FAULT_PROXY_SOURCES.glob("*.py")):
        digest.update(f"{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def check(rules: Sequence[Any], seed: int | None) -> None:
    """Raise LauncherError if rules or seed are invalid."""
    try:
        Faults(list(rules), seed)
    except RuleError as error:
        raise LauncherError(f"fault_{error}") from error


class FaultControl:
    """The faults of a running proxy."""

    def __init__(self, layout: Layout, port: int) -> None:
        self._layout = layout
        self._port = port

    def show(self) -> dict[str, Any]:
        """`rules`, `seed`, and `counts` since the start or the last `clear_counts`."""
        return self._request("GET")

    def set(self, rules: Sequence[Any], seed: int | None) -> dict[str, Any]:
        """Replace the rules and restart the random numbers. Raises LauncherError if rules or seed are invalid."""
        return self._request("PUT", {"rules": list(rules), "seed": seed})

    def clear_counts(self) -> dict[str, Any]:
        """Reset the counts."""
        return self._request("DELETE")

    def _request(self, method: str, body: Any = None) -> dict[str, Any]:
        ca = self._layout.pki / "ca.crt"
        try:
            status, text = call(
                self._port, _CONTROL, ca=ca, token=pki.token(self._layout.pki, "admin"), method=method, body=body
            )
            content: dict[str, Any] = json.loads(text)
        except (OSError, KeyError, ValueError, http.client.HTTPException) as error:
            log = self._layout.log("fault-proxy")
            raise LauncherError(f"the fault proxy does not answer: {error} (log: {log})") from error
        if status != http.client.OK:
            raise LauncherError(f"fault_{content.get('message', status)}")
        return content
