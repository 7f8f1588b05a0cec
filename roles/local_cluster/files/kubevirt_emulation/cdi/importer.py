"""Fills volumes as CDI's importer pod does, but that no data is stored: registries and URLs are really read."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import Any

import aiohttp

from _resolver.api.quantity import parse
from _resolver.boot import checksum, environment, image
from _resolver.boot.image import ImageError
from kubevirt_emulation.cdi import registry
from kubevirt_emulation.cdi.context import Context
from kubevirt_emulation.cdi.registry import Access, PullFailed
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.resources import KINDS

Manifest = dict[str, Any]

_CERTIFICATES = (".crt", ".pem")
_TIMEOUT = aiohttp.ClientTimeout(total=600, sock_connect=10)
_CHUNK = 1 << 20


class Failed(Exception):
    """The import failed. reason: of the condition Running. final: CDI does not try again."""

    def __init__(self, reason: str, message: str, final: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.final = final


async def fill(context: Context, volume: Manifest, size: int) -> dict[str, str]:
    """Imports what a DataVolume names, and returns the labels that an image has for it.

    size: of the claim, in bytes. Raises Failed.
    """
    source = volume["spec"]["source"]
    if source.get("registry") is not None:
        found = await pull(context, source["registry"], volume["metadata"]["namespace"])
        check_size(found.size, size)
        return environment.labels(found.environment)
    if source.get("http") is not None:
        await _download(source["http"], size)
    return {}


async def pull(context: Context, source: Manifest, namespace: str, name: str = "") -> registry.Image:
    """Reads the image of a DataVolume's registry source. namespace: of its Secret and its ConfigMap. Raises Failed."""
    architecture = (source.get("platform") or {}).get("architecture") or ""
    try:
        access = Access(
            await _login(context, source, namespace),
            await _certificates(context, source, namespace),
            context.configuration.get("insecureRegistries") or (),
        )
        return await registry.read(name or source.get("url") or "", architecture, access)
    except (PullFailed, ImageError) as error:
        raise Failed("ImagePullFailed", f"failed to pull image: {error}") from error


def check_size(needed: int, size: int) -> None:
    """Raises Failed where more is needed than a claim has."""
    if needed > size:
        message = f"Virtual image size {needed} is larger than the reported available storage {size}"
        raise Failed("Error", f"Unable to process data: {message}. A larger PVC is required.")


async def _download(source: Manifest, size: int) -> None:
    digest, expected = None, ""
    if source.get("checksum"):
        algorithm, expected = checksum.parse(source["checksum"])
        digest = hashlib.new(algorithm)
    try:
        async with aiohttp.ClientSession(timeout=_TIMEOUT) as session, session.get(source["url"]) as response:
            if response.status != 200:
                message = (
                    f"expected status code 200, got {response.status}. Status: {response.status} {response.reason}"
                )
                raise Failed("Error", f"Unable to connect to http data source: {message}")
            check_size(response.content_length or 0, size)
            # Without a checksum nobody looks at the data.
            while digest is not None and (chunk := await response.content.read(_CHUNK)):
                digest.update(chunk)
    except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
        raise Failed("Error", f"Unable to connect to http data source: {error or type(error).__name__}") from error
    if digest is not None and digest.hexdigest() != expected:
        message = f"checksum mismatch: expected {expected}, got {digest.hexdigest()}"
        raise Failed("ChecksumError", message, final=True)


async def _login(context: Context, source: Manifest, namespace: str) -> tuple[str, str] | None:
    if not source.get("secretRef"):
        return None
    secret = await _needed(context, "Secret", namespace, source["secretRef"])
    return image.credentials(secret, image.reference(source.get("url") or "").registry)


async def _certificates(context: Context, source: Manifest, namespace: str) -> str:
    if not source.get("certConfigMap"):
        return ""
    found = await _needed(context, "ConfigMap", namespace, source["certConfigMap"])
    texts = [text for name, text in (found.get("data") or {}).items() if name.endswith(_CERTIFICATES)]
    encoded = (found.get("binaryData") or {}).items()
    texts += [base64.b64decode(text).decode() for name, text in encoded if name.endswith(_CERTIFICATES)]
    return "\n".join(texts)


async def _needed(context: Context, kind: str, namespace: str, name: str) -> Manifest:
    """An object that the importer's pod mounts; without it the pod does not start."""
    try:
        return await context.client.get(KINDS[kind], namespace, name)
    except ApiError as error:
        if error.code != 404:
            raise
        message = f'MountVolume.SetUp failed for volume: {kind.lower()} "{name}" not found'
        raise Failed("ContainerCreating", message) from error


def bytes_of(quantity: Any) -> int:
    """A quantity of storage in bytes."""
    return parse(str(quantity)).value
