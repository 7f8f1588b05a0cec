"""Reads an image of a registry as CDI's importer does: its digest, its configuration and how large its layers are."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import ssl
from functools import lru_cache
from typing import Any, NamedTuple

import aiohttp

from node.cdi import image
from node.cdi.image import ImageError, Reference

Manifest = dict[str, Any]

_LOOPBACK = ("127.", "localhost", "[::1]")
_TIMEOUT = aiohttp.ClientTimeout(total=30)
_LARGEST = 4 << 20


class PullFailed(Exception):
    """Why an image cannot be pulled; the text is one line."""


class Access(NamedTuple):
    """Credentials for a registry, and the certificates to trust.

    login: user and password, None for nobody. certificates: PEM, "" for the system's. insecure: the registry may have
    any certificate, or none, as those on loopback always may.
    """

    login: tuple[str, str] | None = None
    certificates: str = ""
    insecure: bool = False


class Image(NamedTuple):
    """digest: of what the name stands for, an index or an image. size: of its layers, in bytes."""

    digest: str
    architecture: str
    environment: tuple[str, ...]
    size: int


async def read(name: str, architecture: str, access: Access) -> Image:
    """Reads the image ``docker://NAME``. architecture: "" for any, which of an index means amd64. Raises PullFailed."""
    try:
        reference = image.reference(name)
    except ImageError as error:
        raise PullFailed(str(error)) from error
    async with aiohttp.ClientSession(timeout=_TIMEOUT) as session:
        return await _Reading(session, reference, access).image(architecture)


class _Reading:
    """One image that is read."""

    def __init__(self, session: aiohttp.ClientSession, reference: Reference, access: Access) -> None:
        self._session = session
        self._reference = reference
        self._login = access.login
        self._insecure = access.insecure or reference.host.startswith(_LOOPBACK)
        self._ssl = trust(access.certificates, self._insecure)
        self._headers = {"Accept": ", ".join(image.ACCEPTED)}

    async def image(self, architecture: str) -> Image:
        document, text = await self._document(f"manifests/{self._reference.version}")
        digest = f"sha256:{hashlib.sha256(text).hexdigest()}"
        if image.is_index(document):
            try:
                chosen = image.chosen(document, architecture or "amd64")
            except ImageError as error:
                raise PullFailed(str(error)) from error
            document, _text = await self._document(f"manifests/{chosen}")
        own, _text = await self._document(f"blobs/{(document.get('config') or {}).get('digest')}")
        found = str(own.get("architecture") or "")
        if architecture and found != architecture:
            message = f'manifest image architecture: "{found}" doesn\'t match requested architecture: "{architecture}"'
            raise PullFailed(message)
        size = sum(int(layer.get("size") or 0) for layer in document.get("layers") or [])
        environment = (own.get("config") or {}).get("Env") or ()
        return Image(digest, found, tuple(map(str, environment)), size)

    async def _document(self, part: str) -> tuple[Manifest, bytes]:
        status, challenge, text = await self._get(part)
        if status == 401:
            await self._authorize(challenge)
            status, _challenge, text = await self._get(part)
        host, repository = self._reference.host, self._reference.repository
        if status == 404:
            raise PullFailed(f"reading manifest {self._reference.version} in {host}/{repository}: manifest unknown")
        if status != 200:
            raise PullFailed(f"reading manifest {self._reference.version} in {host}/{repository}: HTTP status {status}")
        try:
            document = json.loads(text)
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise PullFailed(f"{host}/{repository} is no image")
        return document, text

    async def _get(self, part: str) -> tuple[int, str, bytes]:
        """Status, challenge and body of an answer."""
        path = f"{self._reference.host}/v2/{self._reference.repository}/{part}"
        problem: Exception | None = None
        for scheme in ("https", "http") if self._insecure else ("https",):
            try:
                async with self._session.get(f"{scheme}://{path}", headers=self._headers, ssl=self._ssl) as response:
                    text = await response.content.read(_LARGEST)
                    return response.status, response.headers.get("WWW-Authenticate", ""), text
            except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
                problem = error
        raise PullFailed(f"pinging container registry {self._reference.host}: {reason(problem)}")

    async def _authorize(self, challenge: str) -> None:
        scheme, parameters = image.challenge(challenge)
        own = {"Authorization": basic(*self._login)} if self._login else {}
        if scheme == "basic" and own:
            self._headers.update(own)
            return
        if scheme != "bearer" or "realm" not in parameters:
            return
        query: dict[str, str] = {name: parameters[name] for name in ("service", "scope") if name in parameters}
        try:
            async with self._session.get(parameters["realm"], params=query, headers=own, ssl=self._ssl) as response:
                response_body = json.loads(await response.content.read(_LARGEST)) if response.status == 200 else {}
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError) as error:
            raise PullFailed(f"no token of {self._reference.host}: {reason(error)}") from error
        token = response_body.get("token") or response_body.get("access_token")
        if not token:
            raise PullFailed(f"unable to retrieve auth token for {self._reference.host}: invalid username/password")
        self._headers["Authorization"] = f"Bearer {token}"


def basic(user: str, password: str) -> str:
    """The header that says who asks."""
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def reason(error: Exception | None) -> str:
    """The reason why a request got no response, in words that are the same each time."""
    if isinstance(error, aiohttp.ClientConnectorError) and (error.os_error.errno or 0) > 0:
        return f"dial tcp {error.host}:{error.port}: connect: {os.strerror(error.os_error.errno or 0).lower()}"
    return str(error) or type(error).__name__


# Reading the system's CAs takes 20 ms of CPU.
@lru_cache(maxsize=32)
def trust(certificates: str, insecure: bool) -> ssl.SSLContext:
    """Whom to trust. certificates: PEM of CAs that count instead of the system's, or "". Raises PullFailed."""
    try:
        context = ssl.create_default_context(cadata=certificates or None)
    except ssl.SSLError as error:
        raise PullFailed(f"the certificates for the registry cannot be read: {error}") from error
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
