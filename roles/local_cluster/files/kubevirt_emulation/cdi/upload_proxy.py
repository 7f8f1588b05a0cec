"""CDI's upload proxy, and the upload server behind it: counts and hashes what is sent, and stores nothing else."""

from __future__ import annotations

import asyncio
import hashlib
import html
import re
import struct
from collections.abc import AsyncIterator
from typing import Any, Final

from aiohttp import BodyPartReader, web

from kubevirt_emulation.cdi import claims, importer, names
from kubevirt_emulation.cdi.context import Context
from kubevirt_emulation.cdi.tokens import Tokens
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.resources import KINDS

Manifest = dict[str, Any]

_VERSIONS: Final = ("v1beta1", "v1alpha1")
_SYNC, _ASYNC, _FORM, _FORM_ASYNC = "upload", "upload-async", "upload-form", "upload-form-async"
_BEARER: Final = re.compile(r"Bearer\s+([A-Za-z0-9\-._~+/]+)", re.ASCII | re.IGNORECASE)
_READY: Final = 10.0  # seconds to wait for a claim that is not ready yet
_LOOK: Final = 0.2
_CHUNK: Final = 1 << 16
_QCOW2: Final = b"QFI\xfb"
_HEADER: Final = 32


class UploadProxy:
    """Handlers of the proxy's paths. Who may upload where, a token says."""

    def __init__(self, context: Context, tokens: Tokens) -> None:
        self._context = context
        self._tokens = tokens
        self._busy: set[str] = set()  # uids of claims that are uploaded to
        self._done: set[str] = set()

    def routes(self) -> list[web.RouteDef]:
        paths = [f"/{version}/{path}" for version in _VERSIONS for path in (_SYNC, _ASYNC, _FORM, _FORM_ASYNC)]
        return [web.get("/healthz", self._healthz), *(web.route("*", path, self._handle) for path in paths)]

    async def _healthz(self, _request: web.Request) -> web.StreamResponse:
        return web.Response(text="OK")

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        header = _BEARER.fullmatch(request.headers.get("Authorization", ""))
        if header is None:
            return web.Response(status=400)
        target = self._tokens.read(header[1])
        if target is None:
            return web.Response(status=401)
        claim, problem = await self._ready(*target)
        if claim is None:
            return web.Response(status=503, text=html.escape(problem))
        archive = claims.marks_of(claim).get(names.CONTENT_TYPE) == "archive"
        # An archive has a path of its own, whatever path was asked for.
        path = "upload-archive" if archive else request.path.rpartition("/")[2]
        if request.method == "HEAD" and path in (_ASYNC, _FORM_ASYNC):
            return web.Response()
        if request.method != "POST":
            return web.Response(status=404)
        return await self._take(request, claim, "form" in path)

    async def _ready(self, namespace: str, name: str) -> tuple[Manifest | None, str]:
        """The claim as soon as it takes an upload; else None, and why."""
        end = asyncio.get_running_loop().time() + _READY
        while True:
            try:
                claim = await self._context.client.get(KINDS["PersistentVolumeClaim"], namespace, name)
            except ApiError as error:
                missing = f"rejecting Upload Request for PVC {name} that doesn't exist"
                return None, missing if error.code == 404 else str(error)
            marks = claims.marks_of(claim)
            if names.UPLOAD_TARGET not in marks:
                return None, f"PVC {name} is not an upload target"
            if marks.get(names.POD_PHASE) == "Succeeded":
                return None, f"rejecting Upload Request for PVC {name} that already finished uploading"
            if marks.get(names.POD_READY) == "true":
                return claim, ""
            if asyncio.get_running_loop().time() > end:
                return None, "context deadline exceeded"
            await asyncio.sleep(_LOOK)

    async def _take(self, request: web.Request, claim: Manifest, form: bool) -> web.StreamResponse:
        uid = claim["metadata"]["uid"]
        if uid in self._busy:
            return web.Response(status=503)
        if uid in self._done:
            return web.Response(status=409)
        self._busy.add(uid)
        try:
            return await self._receive(request, claim, form)
        finally:
            self._busy.discard(uid)

    async def _receive(self, request: web.Request, claim: Manifest, form: bool) -> web.StreamResponse:
        size = importer.bytes_of(claim["spec"]["resources"]["requests"]["storage"])
        digest, count, header = hashlib.sha256(), 0, b""
        try:
            async for chunk in _form_data(request) if form else request.content.iter_chunked(_CHUNK):
                digest.update(chunk)
                count += len(chunk)
                header = (header + chunk)[:_HEADER]
                importer.check_size(max(count, _virtual_size(header)), size)
        except importer.Failed as failed:
            text = f"effective image size is larger than the reported available storage: {failed}"
            return web.Response(status=400, text=f"Saving stream failed: {text}")
        except ValueError as error:
            return web.Response(status=400, text=str(error))
        self._done.add(claim["metadata"]["uid"])
        marks = {
            names.POD_PHASE: "Succeeded",
            names.POD_READY: "false",
            names.UPLOADED_DIGEST: digest.hexdigest(),
            names.UPLOADED_BYTES: str(count),
        }
        claim = {"kind": "PersistentVolumeClaim", **claim}
        await self._context.patch(claim, {"metadata": {"annotations": marks}})
        return web.Response()


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
    """How large a disk is that begins so: of qcow2 it is written there, anything else is as large as it is."""
    if len(header) < _HEADER or not header.startswith(_QCOW2):
        return 0
    (found,) = struct.unpack_from(">Q", header, 24)
    return int(found)
