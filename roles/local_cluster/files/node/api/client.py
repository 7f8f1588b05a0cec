"""Requests to the API server with a user agent, which is also the field manager."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from node.api.resources import Resource

Manifest = dict[str, Any]

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"


class ApiError(Exception):
    """An unsuccessful response of the API server, or none (code 503). body: its Status object."""

    def __init__(self, code: int, body: Manifest) -> None:
        super().__init__(body.get("message") or f"HTTP status {code}")
        self.code = code
        self.reason: str = body.get("reason") or ""
        self.body = body


class Connection:
    """The connection pool for the API server of a kubeconfig."""

    def __init__(self, kubeconfig: str) -> None:
        cluster, user = _context(kubeconfig)
        base = Path(kubeconfig).resolve().parent
        self.server: str = cluster["server"].rstrip("/")
        context = ssl.create_default_context(cadata=_authority(cluster, base))
        if user.get("client-certificate"):
            context.load_cert_chain(base / user["client-certificate"], base / user["client-key"])
        headers = {"Accept": "application/json"}
        if user.get("token"):
            headers["Authorization"] = f"Bearer {user['token']}"
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context, limit=64),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=60),
        )

    async def close(self) -> None:
        await self.session.close()


def _authority(cluster: Manifest, base: Path) -> str:
    embedded = cluster.get("certificate-authority-data")
    return base64.b64decode(embedded).decode() if embedded else (base / cluster["certificate-authority"]).read_text()


def _context(kubeconfig: str) -> tuple[Manifest, Manifest]:
    config = yaml.safe_load(Path(kubeconfig).read_text())

    def named(kind: str, name: str) -> Manifest:
        found: Manifest = next(entry for entry in config[f"{kind}s"] if entry["name"] == name)[kind]
        return found

    context = named("context", config["current-context"])
    return named("cluster", context["cluster"]), named("user", context["user"])


class Client:
    """Requests of one component. Clients may share a connection."""

    def __init__(self, connection: Connection, user_agent: str, token: str = "") -> None:
        """token: of another user than the kubeconfig's."""
        self._connection = connection
        self._headers = {"User-Agent": user_agent}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    async def request(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> Manifest:
        """Sends a request and returns the object in the response. Raises ApiError, also without a response."""
        headers = self._headers
        data = None
        if body is not None:
            headers = {**headers, "Content-Type": content_type}
            data = json.dumps(body, separators=(",", ":")).encode()
        url = self._connection.server + path
        try:
            async with self._connection.session.request(method, url, data=data, headers=headers) as response:
                content = await response.read()
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            message = f"no answer from {self._connection.server}: {error or type(error).__name__}"
            raise ApiError(503, {"reason": "ServiceUnavailable", "message": message}) from None
        return _checked(response.status, content)

    async def get(self, resource: Resource, namespace: str, name: str) -> Manifest:
        return await self.request("GET", resource.path(namespace, name))

    async def create(self, resource: Resource, namespace: str, body: Manifest) -> Manifest:
        return await self.request("POST", resource.path(namespace), body)

    async def update(self, resource: Resource, body: Manifest, subresource: str = "") -> Manifest:
        metadata = body["metadata"]
        return await self.request(
            "PUT", resource.path(metadata.get("namespace", ""), metadata["name"], subresource), body
        )

    async def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: Any,
        content_type: str = MERGE_PATCH,
        subresource: str = "",
    ) -> Manifest:
        return await self.request("PATCH", resource.path(namespace, name, subresource), body, content_type)

    async def delete(self, resource: Resource, namespace: str, name: str, options: Manifest | None = None) -> Manifest:
        return await self.request("DELETE", resource.path(namespace, name), options)

    async def list(self, resource: Resource) -> Manifest:
        """All objects of a kind, in all namespaces."""
        return await self.request("GET", resource.path())

    async def watch(self, resource: Resource, version: str, seconds: int = 300) -> AsyncIterator[Manifest]:
        """The events after a resourceVersion, including bookmarks, until the server ends the watch. Raises ApiError."""
        path = f"{resource.path()}?watch=1&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds={seconds}"
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=seconds + 30)
        async with self._connection.session.get(
            self._connection.server + path, headers=self._headers, timeout=timeout
        ) as response:
            if response.status != 200:
                _checked(response.status, await response.read())
            rest = b""
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise ApiError(event["object"].get("code", 500), event["object"])
                    yield event


def _checked(code: int, content: bytes) -> Manifest:
    try:
        body = json.loads(content) if content else {}
    except ValueError:
        body = {"message": content.decode("utf-8", "replace")}
    if code >= 300:
        raise ApiError(code, body if isinstance(body, dict) else {})
    return body
