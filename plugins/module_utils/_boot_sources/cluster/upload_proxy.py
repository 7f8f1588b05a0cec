"""A client for CDI's upload proxy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO, Final, NamedTuple

from ..._cluster.client.concurrency import raise_if_stopped
from ..._cluster.client.errors import reason_of
from ..._cluster.client.transport import urllib3

_TIMEOUT: Final = 60
# The proxy waits for CDI's upload server; on its synchronous path also for the processing.
_RESPONSE_TIMEOUT: Final = 3600
_SHOWN: Final = 2000
_SCHEMES: Final = ("http://", "https://")


class UploadResponse(NamedTuple):
    """The response of the upload proxy.

    code: HTTP status, None where none came. text: the body, or what went wrong on the way.
    final: whether another try would end the same way.
    """

    code: int | None
    text: str
    final: bool = False


class _ProgressReader:
    """A file that reports how many bytes have been read."""

    def __init__(self, file: BinaryIO, report: Callable[[int], None]) -> None:
        self._file = file
        self._report = report
        self._count = 0

    def read(self, size: int = -1) -> bytes:
        raise_if_stopped()
        data = self._file.read(size)
        self._count += len(data)
        self._report(self._count)
        return data


def unreachable(pool: Any, url: str) -> str:
    """Why no upload proxy responds at a URL; "" if one does."""
    if not url.startswith(_SCHEMES):
        return f"{url} is neither http nor https"
    try:
        pool.request("GET", url, timeout=_TIMEOUT, retries=False)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        return f"the upload proxy at {url} cannot be reached, so nothing was created: {reason_of(error)}"
    return ""


def accepts_uploads(pool: Any, url: str, token: str) -> bool:
    """Whether the proxy knows this path."""
    if not url.startswith(_SCHEMES):
        return False
    try:
        response = pool.request("HEAD", url, headers=_headers(token), timeout=_TIMEOUT, retries=False)
    except (urllib3.exceptions.HTTPError, OSError):
        return False
    return bool(response.status == 200)


def send(pool: Any, url: str, token: str, file: BinaryIO, length: int, report: Callable[[int], None]) -> UploadResponse:
    """Sends a file from its beginning. report: called with the number of bytes that have been read."""
    if not url.startswith(_SCHEMES):
        return UploadResponse(None, f"{url} is neither http nor https", final=True)
    file.seek(0)
    headers = {**_headers(token), "Content-Type": "application/octet-stream", "Content-Length": str(length)}
    timeout = urllib3.Timeout(connect=_TIMEOUT, read=_RESPONSE_TIMEOUT)
    body = _ProgressReader(file, report)
    try:
        response = pool.request("POST", url, body=body, headers=headers, timeout=timeout, retries=False)
    except urllib3.exceptions.SSLError as error:
        return UploadResponse(None, reason_of(error), final=True)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        return UploadResponse(None, reason_of(error))
    return UploadResponse(response.status, response.data[:_SHOWN].decode("utf-8", "replace").strip())


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
