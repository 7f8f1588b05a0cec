"""Sends requests, over connections that are open already where there are any.

What urllib3 does for each request, beside opening connections, takes a fifth of the CPU of a write.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from .errors import ConnectionFailed, reason_of
from .libraries import HTTPHeaderDict, urllib3


def request_sender(manager: Any, host: str) -> Callable[..., Any]:
    """A function that sends a request to one host: (method, path and query, body, headers, timeout of urllib3,
    whether the answer ends soon) → the response, with its body unread.

    All requests go to the host's pool, because the manager would take a fifth of a request's time to look for it. Only
    a proxy may need the whole URL. Raises ConnectionFailed for a host that is none.
    """
    if manager.proxy is not None:
        pool, prefix = manager, host
    else:
        try:
            pool, prefix = manager.connection_from_url(host), urllib3.util.parse_url(host).path or ""
        except urllib3.exceptions.LocationValueError as error:
            raise ConnectionFailed(f"cannot reach the API server {host}: {reason_of(error)}", final=True) from error

    def send(method: str, path: str, body: bytes | None, headers: Any, timeout: Any, ends: bool) -> Any:
        target = prefix + path
        connection = _open_connection(pool) if ends and manager.proxy is None else None
        if connection is not None:
            return _exchange(pool, connection, method, target, body, headers, timeout.read_timeout)
        # Unlike request() of urllib3 1, this leaves repeated headers as they are if there is a body.
        return pool.request_encode_url(
            method,
            target,
            body=body,
            headers=headers,
            timeout=timeout,
            redirect=False,
            retries=False,
            preload_content=False,
        )

    return send


def _open_connection(pool: Any) -> Any:
    """An open connection of a pool, or None."""
    connection = pool._get_conn()
    if connection.sock is not None:
        return connection
    pool._put_conn(connection)
    return None


def _exchange(
    pool: Any, connection: Any, method: str, target: str, body: bytes | None, headers: Any, seconds: float
) -> Any:
    """seconds: for which the server may send nothing. Raises what urllib3 raises."""
    try:
        connection.sock.settimeout(seconds)
        # The server may have answered before it closed the connection.
        with suppress(BrokenPipeError):
            connection.plain_request(method, target, body, headers)
        response = http.client.HTTPConnection.getresponse(connection)
    except BaseException as error:
        connection.close()
        pool._put_conn(connection)
        _raise_as_urllib3(error, pool, f" (read timeout={seconds})", "Connection aborted.")
        raise
    if response.status < 300 and response.headers.get("Content-Encoding") is None:
        return _Success(pool, connection, response)
    return urllib3.HTTPResponse(
        body=response,
        headers=HTTPHeaderDict(response.headers.items()),
        status=response.status,
        version=response.version,
        reason=response.reason,
        preload_content=False,
        original_response=response,
        pool=pool,
        connection=connection,
    )


def _raise_as_urllib3(error: BaseException, pool: Any, timed_out: str, broken: str) -> None:
    if isinstance(error, socket.timeout):
        raise urllib3.exceptions.ReadTimeoutError(pool, "", f"Read timed out.{timed_out}") from error
    if isinstance(error, ssl.SSLError):
        raise urllib3.exceptions.SSLError(error) from error
    if isinstance(error, (http.client.HTTPException, OSError)):
        raise urllib3.exceptions.ProtocolError(broken, error) from error


class _Success:
    """An answer that is not compressed. Its connection goes back to the pool once the body is read."""

    def __init__(self, pool: Any, connection: Any, response: http.client.HTTPResponse) -> None:
        self.status, self.headers = response.status, response.headers
        self._pool, self._connection, self._response = pool, connection, response

    def stream(self, size: int, decode_content: bool) -> Iterator[bytes]:
        """The body in parts. decode_content: has no effect. Raises what urllib3 raises."""
        response = self._response
        try:
            while part := response.read(size):
                yield part
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except Exception as error:
            self.close()
            _raise_as_urllib3(error, self._pool, "", f"Connection broken: {error!r}")
            raise
        finally:
            if not response.isclosed():
                self.close()
            self._pool._put_conn(self._connection)

    def close(self) -> None:
        """Gives up the rest of the body, and the connection with it."""
        self._response.close()
        self._connection.close()
