"""Simulates CDI's upload proxy, and what its servers do with data: it is counted, and kept only for real guests.

Annotations of the claim say how much came and what, so that it can be seen that it came whole.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import html
import re
import struct
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any, BinaryIO, Final

from aiohttp import BodyPartReader, web

from node.api.client import ApiError, Client
from node.api.informer import Informer, Key, key_of
from node.api.resources import CLAIM, SECRET
from node.cdi import quantity, tokens
from node.cdi.uploads import Uploads
from node.guests.images import ToolFailed
from node.guests.store import Store

Manifest = dict[str, Any]

_KEY: Final = ("cdi", "cdi-api-signing-key")
_PATHS: Final = ("upload", "upload-async", "upload-form", "upload-form-async")
_BEARER: Final = re.compile(r"Bearer\s+([A-Za-z0-9\-._~+/]+)", re.ASCII | re.IGNORECASE)
_READY: Final = 10.0  # seconds to wait for a claim that is not ready yet
_CHUNK: Final = 1 << 16
_QCOW2: Final = b"QFI\xfb"
_HEADER: Final = 32
_ANNOTATION: Final = "cdi.kubevirt.io/storage."
_UPLOADED: Final = "instancetypes.virtshape.io/simulated-disk-"


class Refused(Exception):
    """The claim takes no upload; the text is CDI's."""


class UploadProxy:
    """Handlers of the proxy's paths. claims, pods: caches. store: what claims hold; None for nothing."""

    def __init__(
        self, client: Client, claims: Informer, pods: Informer, uploads: Uploads, store: Store | None = None
    ) -> None:
        self._store = store
        self._client = client
        self._claims = claims
        self._pods = pods
        self._uploads = uploads
        self._busy: set[Key] = set()
        self._waiting: dict[Key, set[asyncio.Event]] = defaultdict(set)  # by claim: told of changes
        claims.on_change(self._claim_changed)

    def routes(self) -> list[web.RouteDef]:
        paths = [f"/{version}/{path}" for version in ("v1beta1", "v1alpha1") for path in _PATHS]
        return [web.get("/healthz", self._healthz), *(web.route("*", path, self._handle) for path in paths)]

    def _claim_changed(self, key: Key) -> None:
        for event in self._waiting.get(key, ()):
            event.set()

    async def _healthz(self, _request: web.Request) -> web.StreamResponse:
        return web.Response(text="OK")

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        header = _BEARER.fullmatch(request.headers.get("Authorization", ""))
        if header is None:
            return web.Response(status=400)
        try:
            target = tokens.read(header[1], await self._public_key())
            claim = await asyncio.wait_for(self._ready(target), _READY)
        except tokens.BadToken:
            return web.Response(status=401)
        except tokens.WrongToken:
            return web.Response(status=400)
        except (Refused, ApiError) as error:
            return web.Response(status=503, text=html.escape(str(error)))
        except asyncio.TimeoutError:
            return web.Response(status=503, text="context deadline exceeded")
        # Archives go to a path of their own, which is not asked first.
        is_probe = request.method == "HEAD" and request.path.endswith("-async")
        if is_probe and _annotation(claim, "contentType") != "archive":
            return web.Response()
        # The real server takes POST alone; curl -T sends PUT.
        if request.method not in ("POST", "PUT"):
            return web.Response(status=404)
        return await self._take(request, target, claim, "form" in request.path)

    async def _public_key(self) -> bytes:
        secret = await self._client.get(SECRET, *_KEY)
        return base64.b64decode(secret["data"]["id_rsa.pub"])

    async def _ready(self, key: Key) -> Manifest:
        """The claim that the data goes to, as soon as its server runs. Raises Refused."""
        while True:
            changed = asyncio.Event()
            claim, prime = self._look(key)
            if prime is not None and _annotation(prime, "pod.ready") == "true":
                return prime
            watched = {key, (key[0], _annotation(claim, "populator.pvcPrime"))}
            for entry in watched:
                self._waiting[entry].add(changed)
            try:
                await changed.wait()
            finally:
                for entry in watched:
                    self._waiting[entry].discard(changed)
                    if not self._waiting[entry]:
                        del self._waiting[entry]

    def _look(self, key: Key) -> tuple[Manifest, Manifest | None]:
        """The claim, and the one that is filled for it, which is the same without a populator. Raises Refused."""
        claim = self._claims.get(key)
        if claim is None:
            raise Refused(f"rejecting Upload Request for PVC {key[1]} that doesn't exist")
        prime: Manifest | None = claim
        if (claim["spec"].get("dataSourceRef") or {}).get("kind") == "VolumeUploadSource":
            name = _annotation(claim, "populator.pvcPrime")
            prime = self._claims.get((key[0], name)) if name else None
        if prime is not None and _mark(prime, "upload.target") is None:
            raise Refused(f"PVC {prime['metadata']['name']} is not an upload target")
        if prime is not None and _annotation(prime, "pod.phase") == "Succeeded":
            raise Refused(f"rejecting Upload Request for PVC {key[1]} that already finished uploading")
        return claim, prime

    async def _take(self, request: web.Request, target: Key, claim: Manifest, form: bool) -> web.StreamResponse:
        """target: what the user has named. claim: what is filled for it."""
        server = self._server(claim)
        if server is None or server in self._busy:
            return web.Response(status=503)
        if not self._uploads.is_serving(server):
            return web.Response(status=409)
        self._busy.add(server)
        try:
            size = quantity.parse(claim["spec"]["resources"]["requests"]["storage"])
            data = _form_data(request) if form else request.content.iter_chunked(_CHUNK)
            count, digest = await self._receive(data, size, claim)
        except TooLarge as error:
            text = f"effective image size is larger than the reported available storage: {error}"
            return web.Response(status=400, text=f"Saving stream failed: {text}")
        except (ValueError, ToolFailed) as error:
            return web.Response(status=400, text=str(error))
        finally:
            self._busy.discard(server)
        annotations = {f"{_UPLOADED}bytes": str(count), f"{_UPLOADED}sha256": digest}
        await self._client.patch(CLAIM, *target, {"metadata": {"annotations": annotations}})
        self._uploads.finish(server)
        return web.Response()

    async def _receive(self, data: AsyncIterator[bytes], size: int, claim: Manifest) -> tuple[int, str]:
        """Like `_receive` below, and keeps the data where there is a store."""
        if self._store is None:
            return await _receive(data, size)
        key = key_of(claim)
        with self._store.incoming(*key) as file:
            with file.open("wb") as opened:
                received = await _receive(data, size, opened)
            await self._store.take(*key, file)
        return received

    def _server(self, claim: Manifest) -> Key | None:
        """The Service of a claim's upload server, which is in the label of its pod."""
        namespace = claim["metadata"]["namespace"]
        pod = self._pods.get((namespace, _annotation(claim, "uploadPodName")))
        if pod is None:
            return None
        return namespace, str(pod["metadata"]["labels"]["service"])


class TooLarge(Exception):
    """The data do not fit into the volume."""


async def _receive(chunks: AsyncIterator[bytes], size: int, file: BinaryIO | None = None) -> tuple[int, str]:
    """Reads everything and returns how many bytes there are, and their SHA-256. Raises TooLarge. file: gets them."""
    count, header, digest = 0, b"", hashlib.sha256()
    async for chunk in chunks:
        digest.update(chunk)
        if file is not None:
            file.write(chunk)
        count += len(chunk)
        header = (header + chunk)[:_HEADER]
        needed = max(count, _virtual_size(header))
        if needed > size:
            text = f"Virtual image size {needed} is larger than the reported available storage {size}"
            raise TooLarge(f"{text}. A larger PVC is required.")
    return count, digest.hexdigest()


async def _form_data(request: web.Request) -> AsyncIterator[bytes]:
    """The data of the field `file`. Raises ValueError without one."""
    parts = await request.multipart()
    while (part := await parts.next()) is not None:
        if isinstance(part, BodyPartReader) and part.name == "file":
            while chunk := await part.read_chunk(_CHUNK):
                yield chunk
            return
    raise ValueError("the form has no field named file")


def _virtual_size(header: bytes) -> int:
    """The virtual size of an image by its header: of qcow2 it is written there, anything else is as large as it is."""
    if len(header) < _HEADER or not header.startswith(_QCOW2):
        return 0
    (size,) = struct.unpack_from(">Q", header, 24)
    return int(size)


def _mark(claim: Manifest, name: str) -> str | None:
    value = (claim["metadata"].get("annotations") or {}).get(_ANNOTATION + name)
    return None if value is None else str(value)


def _annotation(claim: Manifest, name: str) -> str:
    return _mark(claim, name) or ""
