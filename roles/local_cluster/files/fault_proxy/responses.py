"""Faulty responses."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Mapping
from typing import Any

from aiohttp import web

# The reasons of an API server; other codes come from proxies, which do not use JSON.
REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
_TICK = 0.05  # seconds


def status(code: int, retry_after: int | None) -> web.Response:
    """An API server's Status object; for codes of proxies a line of text."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    if code not in REASONS:
        return web.Response(status=code, text="injected by the fault proxy\n", headers=headers)
    return web.json_response(_status(code), status=code, headers=headers)


def _status(code: int) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"{REASONS[code]}: injected by the fault proxy",
        "reason": REASONS[code],
        "code": code,
    }


def reset(request: web.Request) -> web.Response:
    """Resets the connection (RST); the returned response is not sent."""
    if request.transport is not None:
        connection = request.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
    return web.Response()


async def cut(request: web.Request, code: int, headers: Mapping[str, str], body: bytes, length: int) -> web.Response:
    """Announces the whole body, sends `length` bytes, and closes the connection."""
    response = web.StreamResponse(status=code, headers=headers)
    response.content_length = len(body)
    await response.prepare(request)
    await response.write(body[:length])
    return end(request)


def end(request: web.Request) -> web.Response:
    """Closes the connection after sending what was written; the returned response is not sent."""
    if request.transport is not None:
        request.transport.close()
    return web.Response()


async def slow(
    request: web.Request, code: int, headers: Mapping[str, str], body: bytes, rate: float
) -> web.StreamResponse:
    """Sends the body at `rate` bytes per second."""
    response = web.StreamResponse(status=code, headers=headers)
    response.content_length = len(body)
    await response.prepare(request)
    loop = asyncio.get_running_loop()
    began, sent = loop.time(), 0
    while sent < len(body):
        await asyncio.sleep(_TICK)
        due = int((loop.time() - began) * rate)
        await response.write(body[sent:due])
        sent = max(sent, due)
    await response.write_eof()
    return response


async def events(chunks: AsyncIterator[bytes], count: int | None) -> AsyncIterator[bytes]:
    """The first `count` events of a watch, one per line; None for all."""
    if count == 0:
        return
    rest, sent = b"", 0
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line + b"\n"
            sent += 1
            if sent == count:
                return


def gone() -> bytes:
    """The event of a watch whose resourceVersion is too old."""
    return json.dumps({"type": "ERROR", "object": _status(410)}).encode() + b"\n"
