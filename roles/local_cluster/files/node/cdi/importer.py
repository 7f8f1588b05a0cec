"""Simulates CDI's importer: registries and URLs are really read, but nothing is stored."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any, Final

import aiohttp

from node.api.client import Client
from node.cdi import container as containers
from node.cdi import image, quantity, registry
from node.cdi.image import ImageError
from node.cdi.registry import PullFailed
from node.kubelet.programs import Outcome

Manifest = dict[str, Any]

_TIMEOUT: Final = aiohttp.ClientTimeout(total=600, sock_connect=10)
_CHUNK: Final = 1 << 20


class Failed(Exception):
    """The import has failed; the text is the importer's."""


async def run(client: Client, pod: Manifest) -> Outcome:
    """The program of an importer pod."""
    main, *others = pod["spec"]["containers"]
    values = await containers.environment(client, pod, main)
    trusted = await containers.certificates(client, pod, main, values.get("IMPORTER_CERT_DIR", ""))
    try:
        if others:  # the node has pulled the image, and its server gives it to the importer
            pulled = await pull(others[0]["image"], values, trusted)
            return _done(image.labels(pulled.environment))
        return _done(await _import(values, trusted))
    except Failed as failed:
        return Outcome(1, str(failed))
    except ChecksumMismatch as mismatch:
        # An exit code of 0 keeps kubelet from trying again.
        return Outcome(0, json.dumps({"message": f"Unable to process data: {mismatch}"}))


async def _import(values: dict[str, str], trusted: str) -> dict[str, str]:
    """Reads the source, and returns the labels that it has for the volume."""
    source, size = values.get("IMPORTER_SOURCE", ""), values.get("IMPORTER_IMAGE_SIZE") or "0"
    if source == "registry":
        pulled = await pull(
            values.get("IMPORTER_ENDPOINT", ""), values, trusted, values.get("IMPORTER_REGISTRY_IMAGE_ARCHITECTURE", "")
        )
        _check_size(pulled.size, quantity.parse(size))
        return image.labels(pulled.environment)
    if source == "http":
        await _download(values, trusted, quantity.parse(size))
    return {}


async def pull(name: str, values: dict[str, str], trusted: str, architecture: str = "") -> registry.Image:
    """Reads an image. Raises Failed."""
    try:
        return await registry.read(name, architecture, containers.access(values, trusted))
    except ImageError as error:
        raise Failed(f"Unable to process data: Failed to read registry image: {error}") from error
    except PullFailed as error:
        text = f"Unable to process data: Failed to read registry image: failed to pull image: {error}"
        raise Failed(text) from error


class ChecksumMismatch(Exception):
    """The data is not what was asked for."""


async def _download(values: dict[str, str], trusted: str, size: int) -> None:
    algorithm, _colon, expected = values.get("IMPORTER_CHECKSUM", "").partition(":")
    digest = hashlib.new(algorithm.strip().lower()) if expected else None
    context = registry.trust(trusted, values.get("INSECURE_TLS", "").lower() == "true")
    user = values.get("IMPORTER_ACCESS_KEY_ID")
    headers = {"Authorization": registry.basic(user, values.get("IMPORTER_SECRET_KEY", ""))} if user else {}
    for name, header in values.items():
        if name.startswith("IMPORTER_EXTRA_HEADER_"):
            key, _colon, value = header.partition(":")
            headers[key.strip()] = value.strip()
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT, headers=headers) as session,
            session.get(values.get("IMPORTER_ENDPOINT", ""), ssl=context) as response,
        ):
            if response.status != 200:
                status = f"{response.status} {response.reason}"
                text = f"expected status code 200, got {response.status}. Status: {status}"
                raise Failed(f"Unable to connect to http data source: {text}")
            _check_size(response.content_length or 0, size)
            # Without a checksum nobody looks at the data.
            while digest is not None and (chunk := await response.content.read(_CHUNK)):
                digest.update(chunk)
    except (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError) as error:
        text = f"HTTP request errored: {registry.reason(error)}"
        raise Failed(f"Unable to connect to http data source: {text}") from error
    if digest is not None and digest.hexdigest() != expected.strip().lower():
        raise ChecksumMismatch(
            f"checksum validation failed: checksum mismatch: expected {expected}, got {digest.hexdigest()}"
        )


def _check_size(needed: int, size: int) -> None:
    """Raises Failed where more is needed than the volume has."""
    if size and needed > size:
        text = f"Virtual image size {needed} is larger than the reported available storage {size}"
        raise Failed(f"Unable to process data: {text}. A larger PVC is required.")


def _done(labels: dict[str, str]) -> Outcome:
    message: Manifest = {"scratchSpaceRequired": False, "preallocationApplied": False, "message": "Import Complete"}
    if labels:
        message["labels"] = labels
    text = json.dumps(message, separators=(",", ":"))
    if len(text) > 4096:
        return Outcome(1, f"Termination message length {len(text)} exceeds maximum length of 4096 bytes")
    return Outcome(0, text)
