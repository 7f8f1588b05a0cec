"""Simulates CDI's importer: registries and URLs are really read, but nothing is stored without real guests.

With them, a claim gets the file that a user has mapped to its source, or what a URL has.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import aiohttp

from node.api.client import Client
from node.cdi import container as containers
from node.cdi import image, quantity, registry
from node.cdi.image import ImageError
from node.cdi.registry import PullFailed
from node.guests import images
from node.guests.images import ToolFailed
from node.guests.store import Store
from node.kubelet.needs import claims
from node.kubelet.programs import Outcome

Manifest = dict[str, Any]

_TIMEOUT: Final = aiohttp.ClientTimeout(total=600, sock_connect=10)
_CHUNK: Final = 1 << 20


class Failed(Exception):
    """The import has failed; the text is the importer's."""


async def run(client: Client, pod: Manifest, store: Store | None = None) -> Outcome:
    """The program of an importer pod. store: what claims hold; None for nothing."""
    main, *others = pod["spec"]["containers"]
    values = await containers.environment(client, pod, main)
    target = _Target(store, pod["metadata"]["namespace"], claims(pod)[0]) if store is not None else None
    trusted = await containers.certificates(client, pod, main, values.get("IMPORTER_CERT_DIR", ""))
    source = others[0]["image"] if others else values.get("IMPORTER_ENDPOINT", "")
    try:
        if target is not None and await target.fill(source, quantity.parse(values.get("IMPORTER_IMAGE_SIZE") or "0")):
            return _done({})
        if others:  # the node has pulled the image, and its server gives it to the importer
            pulled = await pull(others[0]["image"], values, trusted)
            return _done(image.labels(pulled.environment))
        return _done(await _import(values, trusted, target))
    except Failed as failed:
        return Outcome(1, str(failed))
    except ChecksumMismatch as mismatch:
        # An exit code of 0 keeps kubelet from trying again.
        return Outcome(0, json.dumps({"message": f"Unable to process data: {mismatch}"}))


class _Target(NamedTuple):
    """The claim that an import fills."""

    store: Store
    namespace: str
    claim: str

    async def fill(self, source: str, size: int) -> bool:
        """Gives the claim the file that is mapped to a source. Returns whether there is one. Raises Failed."""
        mapped = self.store.images.find(source) if source else None
        if mapped is None:
            if source:
                self.store.leave_unknown(
                    self.namespace, self.claim, f"no entry of local_cluster_images matches {source}"
                )
            return False
        try:
            _check_size(await images.virtual_size(Path(mapped.file)), size)
            await self.store.fill(self.namespace, self.claim, mapped)
        except ToolFailed as error:
            raise Failed(f"Unable to process data: {error}") from error
        return True


async def _import(values: dict[str, str], trusted: str, target: _Target | None) -> dict[str, str]:
    """Reads the source, and returns the labels that it has for the volume."""
    source, size = values.get("IMPORTER_SOURCE", ""), values.get("IMPORTER_IMAGE_SIZE") or "0"
    if source == "registry":
        pulled = await pull(
            values.get("IMPORTER_ENDPOINT", ""), values, trusted, values.get("IMPORTER_REGISTRY_IMAGE_ARCHITECTURE", "")
        )
        _check_size(pulled.size, quantity.parse(size))
        return image.labels(pulled.environment)
    if source == "http":
        if target is None:
            await _download(values, trusted, quantity.parse(size))
            return {}
        with target.store.incoming(target.namespace, target.claim) as file:
            with file.open("wb") as opened:
                await _download(values, trusted, quantity.parse(size), opened)
            await _take(target, file)
    return {}


async def _take(target: _Target, file: Path) -> None:
    try:
        await target.store.take(target.namespace, target.claim, file)
    except ToolFailed as error:
        raise Failed(f"Unable to process data: {error}") from error


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


async def _download(values: dict[str, str], trusted: str, size: int, file: BinaryIO | None = None) -> None:
    """Reads a URL, and writes it to a file if there is one. Raises Failed and ChecksumMismatch."""
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
            # Without a checksum and a file nobody looks at the data.
            while (digest is not None or file is not None) and (chunk := await response.content.read(_CHUNK)):
                if digest is not None:
                    digest.update(chunk)
                if file is not None:
                    file.write(chunk)
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
