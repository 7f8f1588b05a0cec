"""Requests to the API server that a kubeconfig names."""

from __future__ import annotations

import base64
import json
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import urllib3
import yaml

DEFAULT_HEADERS = {"Accept": "application/json, */*", "User-Agent": "contract"}


class Answer(NamedTuple):
    """What came back. body: the JSON value, None where it is none; warnings: the texts with code 299."""

    code: int
    text: str
    body: Any
    warnings: list[str]


class Api:
    """One API server, as one user; may be used by several threads."""

    def __init__(self, kubeconfig: str, connections: int = 8) -> None:
        cluster, user = _context(kubeconfig)
        self._secrets = tempfile.TemporaryDirectory(prefix="contract-")  # gone with this object
        base = Path(kubeconfig).resolve().parent
        self.server = cluster["server"].rstrip("/")
        options: dict[str, Any] = {}
        if cluster.get("insecure-skip-tls-verify"):
            options["cert_reqs"] = "CERT_NONE"
            urllib3.disable_warnings()
        else:
            options["ca_certs"] = self._file(cluster, "certificate-authority", base)
        if cluster.get("tls-server-name"):
            options["server_hostname"] = cluster["tls-server-name"]
        options["cert_file"] = self._file(user, "client-certificate", base)
        options["key_file"] = self._file(user, "client-key", base)
        self._pool = urllib3.PoolManager(
            maxsize=connections, block=False, retries=False, timeout=urllib3.Timeout(connect=10, read=90), **options
        )
        self._headers = dict(DEFAULT_HEADERS)
        token = user.get("token") or (user.get("tokenFile") and (base / user["tokenFile"]).read_text().strip())
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        elif user.get("username"):
            pair = f"{user['username']}:{user.get('password', '')}".encode()
            self._headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()

    def _file(self, entry: dict[str, Any], key: str, base: Path) -> str | None:
        """The path of a certificate or key; inline data is put into a file, which TLS libraries want."""
        if entry.get(key):
            return str(base / entry[key])
        if not entry.get(key + "-data"):
            return None
        path = Path(self._secrets.name, key + ".pem")
        path.write_bytes(base64.b64decode(entry[key + "-data"]))
        return str(path)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        text: str | None = None,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
        user: dict[str, Any] | None = None,
    ) -> Answer:
        """One request. `text` is sent as it is, else `body` as JSON; user: {user, groups} to impersonate."""
        merged = urllib3.HTTPHeaderDict(self._headers)
        data = text if text is not None else None if body is None else json.dumps(body)
        if data is not None:
            merged["Content-Type"] = content_type
        if user:
            merged["Impersonate-User"] = user["user"]
            for group in user.get("groups") or []:
                merged.add("Impersonate-Group", group)
        for name, value in (headers or {}).items():
            merged[name] = value
        encoded = data.encode() if data is not None else None
        response = self._pool.request(method, self.server + path, body=encoded, headers=merged, redirect=False)
        content = response.data.decode("utf-8", "replace")
        return Answer(response.status, content, _json(content), _warnings(response.headers.getlist("Warning")))


def _context(kubeconfig: str) -> tuple[dict[str, Any], dict[str, Any]]:
    config = yaml.safe_load(Path(kubeconfig).read_text())

    def named(kind: str, name: str) -> dict[str, Any]:
        return next(entry for entry in config[kind + "s"] if entry["name"] == name)[kind] or {}

    context = named("context", config["current-context"])
    return named("cluster", context["cluster"]), named("user", context["user"])


def _json(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


_QUOTED = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


def _warnings(values: list[str]) -> list[str]:
    return [re.sub(r"\\(.)", r"\1", text) for value in values for text in _QUOTED.findall(value)]
