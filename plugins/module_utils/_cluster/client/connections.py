"""Connections to an API server: opened, used for one request after another, and kept. HTTP is that of http.client."""

from __future__ import annotations

import http.client
import io
import select
import socket
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final
from urllib.parse import SplitResult

from .errors import ConnectionFailed, reason_of
from .settings import Settings
from .sockets import CONNECT_TIMEOUT, PORTS, closed_on_error, dial, endpoint, over_tls, server_context

USER_AGENT: Final = "virtshape.instancetypes"
"""The name of the client in the logs of servers."""
_BUFFER: Final = 65536
# Without a body, they say so.
_WITH_BODY: Final = ("POST", "PUT", "PATCH")


class Connections:
    """The connections to one API server. Threads may share them.

    size: how many are kept while nobody uses them. Reads the files of the settings once. Raises ConnectionFailed for a
    host that is none, and for unusable certificates, keys and proxies.
    """

    def __init__(self, settings: Settings, size: int) -> None:
        try:
            # Without a scheme, kubectl also takes HTTP.
            self._server = endpoint(settings.host if "://" in settings.host else f"http://{settings.host}")
        except ValueError as error:
            raise ConnectionFailed(
                f"cannot reach the API server {settings.host}: {reason_of(error)}", final=True
            ) from error
        self._tls = server_context(settings) if self._server.scheme == "https" else None
        self._server_name = settings.server_name or str(self._server.hostname)
        self._size = size
        self._idle: list[Connection] = []
        self._dial: Callable[[], Any] = partial(dial, self._server)
        self._prefix, self._headers = self._server.path, {}
        if settings.proxy:
            from .proxy_route import ProxyRoute

            route = ProxyRoute(settings, self._server)
            self._dial, self._prefix, self._headers = route.dial, route.prefix + self._prefix, route.headers

    def take(self) -> Connection:
        """An open connection that nobody uses. Raises OSError or http.client.HTTPException."""
        while self._idle:
            # Another thread may have taken the last one.
            with suppress(IndexError):
                connection = self._idle.pop()
                if connection.is_open():
                    return connection
                connection.close()
        return self._open()

    def keep(self, connection: Connection) -> None:
        if len(self._idle) < self._size:
            self._idle.append(connection)
        else:
            connection.close()

    def _open(self) -> Connection:
        try:
            link = self._dial()
            with closed_on_error(link):
                link = link if self._tls is None else over_tls(link, self._tls, self._server_name)
        except socket.timeout as error:
            raise OSError(f"no connection within {CONNECT_TIMEOUT} s") from error
        except OSError:
            # The error of a certificate is also a ValueError.
            raise
        except ValueError as error:
            # A name that no host can have, such as one with an empty label.
            raise OSError(str(error)) from error
        return Connection(self, self._server, link, self._prefix, self._headers)


class Connection(http.client.HTTPConnection):
    """A connection of a pool, for one request after another."""

    def __init__(self, pool: Connections, server: SplitResult, link: Any, prefix: str, headers: dict[str, str]) -> None:
        super().__init__(str(server.hostname), server.port)
        self.default_port, self.sock = PORTS[server.scheme], link
        self.pool, self._prefix, self._proxy_headers = pool, prefix, headers
        self._request = b""

    def is_open(self) -> bool:
        """Whether the server has not closed the connection meanwhile: then there is something to read, its end."""
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return not poll.poll(0)

    def exchange(
        self,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes | None,
        timeout: float,
        deadline: float,
    ) -> Response:
        """Sends a request. Returns the answer, with its body unread.

        target: path and query. timeout: seconds for which the server may send nothing. deadline: the time of
        time.monotonic by which the whole answer must be there. Raises ValueError for a header that is none, before
        anything is sent, else OSError or http.client.HTTPException.
        """
        try:
            self.sock.settimeout(timeout)
            self._request = b""
            self.putrequest(method, self._prefix + target)
            for name, value in headers:
                if name.lower() not in self._proxy_headers:
                    self.putheader(name, value)
            for name, value in self._proxy_headers.items():
                self.putheader(name, value)
            if body is not None or method in _WITH_BODY:
                self.putheader("Content-Length", str(len(body or b"")))
            self.endheaders()
            # The server may have answered before it closed the connection.
            with suppress(BrokenPipeError):
                super().send(self._request + (body or b""))
            self.response_class = partial(Response, deadline=deadline)  # type: ignore[assignment]
            response: Response = self.getresponse()  # type: ignore[assignment]
        except BaseException:
            self.close()
            raise
        response.connection = self
        return response

    def send(self, data: Any) -> None:
        """Keeps the headers, to send them with the body: each write costs a system call and a TLS record at both
        ends."""
        self._request += data


class Response(http.client.HTTPResponse):
    """An answer, with its body unread: read it by `parts`, and end it. connection: over which it comes, until then."""

    connection: Connection | None = None

    def __init__(self, *arguments: Any, deadline: float, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fp = io.BufferedReader(_TimedStream(self.fp.detach(), deadline), _BUFFER)

    def parts(self) -> Iterator[bytes]:
        """The body in parts, as they arrive, decompressed. The connection then serves other requests.

        Raises OSError, http.client.HTTPException, and zlib.error for what cannot be decompressed.
        """
        # `read` waits for all of a part; `read1` loses count of an announced length before Python 3.13.
        read = self.read1 if self.length is None else self.read
        # Nobody asks for it, but some proxies compress all the same.
        is_packed = self.headers.get("Content-Encoding", "").lower() in ("gzip", "deflate")
        unpack = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress if is_packed else bytes
        try:
            while part := read(_BUFFER):
                yield unpack(part)
            if self.length:
                raise http.client.IncompleteRead(b"", self.length)
        finally:
            self.end()

    def end(self) -> None:
        """Gives the connection back, for another request; if the body was not read to its end, closes it."""
        connection, self.connection = self.connection, None
        if connection is not None and self.isclosed() and not self.will_close:
            connection.pool.keep(connection)
        elif connection is not None:
            self.close()
            connection.close()


class _TimedStream(io.RawIOBase):
    """A raw stream with a total deadline; the socket's own timeout restarts with each byte."""

    def __init__(self, raw: Any, deadline: float) -> None:
        self._raw, self._deadline = raw, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        if time.monotonic() > self._deadline:
            raise OSError("the server did not complete its answer in time")
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()
