"""A client for CDI's upload proxy."""

from __future__ import annotations

from typing import Any, BinaryIO, Final, NamedTuple

from ..._cluster.client.concurrency import display, raise_if_stopped
from ..._cluster.client.errors import reason_of
from ..._cluster.client.web import urllib3

_TIMEOUT: Final = 60
# The proxy waits for CDI's upload server; on its synchronous path also for the processing.
_RESPONSE_TIMEOUT: Final = 3600
_SHOWN: Final = 2000
SCHEMES: Final = ("http://", "https://")
# How often the progress is shown.
_STEPS: Final = 10


class UploadResponse(NamedTuple):
    """The response of the upload proxy.

    code: HTTP status, None where none came. text: the body, or what went wrong on the way.
    final: whether another try would end the same way.
    """

    code: int | None
    text: str
    final: bool = False

    @property
    def reason(self) -> str:
        return self.text if self.code is None else f"HTTP {self.code} {self.text}".strip()


class UploadedFile:
    """A file that shows how much of it has been read. name: the name in messages. count: the bytes that were read."""

    def __init__(self, file: BinaryIO, length: int, name: str) -> None:
        self.length = length
        self.count = 0
        self._file = file
        self._name = name
        self._step = 0

    def rewind(self) -> None:
        self._file.seek(0)

    def read(self, size: int = -1) -> bytes:
        raise_if_stopped()
        data = self._file.read(size)
        self.count = self._file.tell()
        step = _STEPS * self.count // self.length if self.length else _STEPS
        if step != self._step:
            self._step = step
            display.get()(f"{self._name}: {100 * step // _STEPS} % of {self.length} bytes uploaded")
        return data


def unreachable(pool: Any, url: str) -> str:
    """Why no upload proxy responds at a URL; "" if one does."""
    if not url.startswith(SCHEMES):
        return f"{url} is neither http nor https"
    try:
        pool.request("GET", url, timeout=_TIMEOUT, retries=False)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        return f"the upload proxy at {url} cannot be reached, so nothing was created: {reason_of(error)}"
    return ""


def accepts_uploads(pool: Any, url: str, token: str) -> bool:
    """Whether the proxy knows this path."""
    try:
        headers = {"Authorization": f"Bearer {token}"}
        response = pool.request("HEAD", url, headers=headers, timeout=_TIMEOUT, retries=False)
    except (urllib3.exceptions.HTTPError, OSError):
        return False
    return bool(response.status == 200)


def send(pool: Any, url: str, token: str, file: UploadedFile) -> UploadResponse:
    """Sends a file from its beginning."""
    file.rewind()
    content = {"Content-Type": "application/octet-stream", "Content-Length": str(file.length)}
    headers = {"Authorization": f"Bearer {token}", **content}
    timeout = urllib3.Timeout(connect=_TIMEOUT, read=_RESPONSE_TIMEOUT)
    try:
        response = pool.request("POST", url, body=file, headers=headers, timeout=timeout, retries=False)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        return UploadResponse(None, reason_of(error), final=isinstance(error, urllib3.exceptions.SSLError))
    return UploadResponse(response.status, response.data[:_SHOWN].decode("utf-8", "replace").strip())
